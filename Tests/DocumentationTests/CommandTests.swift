import Foundation
import Testing

/// Runs what the documents tell their readers to run.
@Suite(.serialized) struct CommandTests {
    /// Documents with commands.
    static func withCommands() throws -> [MarkdownDocument] {
        try MarkdownDocument.all().filter { CommandScript($0, in: "").blockCount > 0 }
    }

    @Test("every command of a document succeeds, except in blocks that are skipped", arguments: try withCommands())
    func commands(_ document: MarkdownDocument) throws {
        let run = try ShellRun { CommandScript(document, in: $0).text }
        #expect(run.status == 0, "\(run.output.suffix(6000))")
    }

    @Test(
        "comments for the script are known, and a block that is not run has an accepted reason",
        arguments: try MarkdownDocument.all())
    func reasons(_ document: MarkdownDocument) {
        #expect(CommandScript(document, in: "").faults == [])
    }

    @Test func `the documents that operators follow have commands that run`() throws {
        let paths = try Set(Self.withCommands().map(\.path))
        for name in [
            "operate", "roll-a-key", "register-merchants", "onboarding", "decryptor-api", "in-app-provisioning",
            "merchant-sessions", "backup-and-recovery", "master-key",
        ] {
            #expect(paths.contains("docs/\(name).md"), "\(name)")
        }
        #expect(paths.contains("README.md"))
    }
}
