import Foundation
import Testing

/// The script of docs/onboarding.md for the backend of a portal, with HTTP/1.1 and HTTP/2.
@Suite(.serialized) struct PortalCommandTests {
    @Test("a backend that uses nothing but curl onboards a merchant", arguments: ["1.1", "2"])
    func backend(_ version: String) throws {
        let document = try MarkdownDocument("docs/onboarding.md")
        let run = try ShellRun { directory in
            """
            printf 'http%s\\n' '\(version)' >"$HOME/.curlrc"
            \(CommandScript(document, in: directory).text)
            place='the end of the test'
            used=$(curl --silent --output /dev/null --write-out '%{http_version}' "$portal/health")
            [ "$used" = '\(version)' ] || { echo "curl used HTTP/$used" >&2; exit 9; }
            merchantkeyctl --output json audit list --limit 1000 >audit.json
            for action in rollStarted certificateStored registrationChanged invitationCreated; do
              jq -e --arg action "$action" 'any(.items[]; .action == $action and .caller.name == "access:shop-portal")' \\
                audit.json >/dev/null || { echo "the audit has no $action by the backend" >&2; exit 9; }
            done
            """
        }
        #expect(run.status == 0, "HTTP/\(version): \(run.output.suffix(6000))")
    }
}
