import Foundation
import Testing

/// The files of the Debian package that are generated from the programs.
@Suite(.serialized) struct GeneratedFileTests {
    private static let generator = MarkdownDocument.root.appending(path: "etc/debian").path

    @Test func `a shell completes merchants, keys, files and values`() throws {
        let run = try ShellRun { _ in
            #"""
            merchantkeyctl merchant add "$merchant" >/dev/null
            merchantkeyctl key generate "$merchant" --csr shop.csr >/dev/null
            hash=$(merchantkeyctl key list "$merchant" --output json | jq -r '.items[0].publicKeyHash')
            merchantkeyctl --generate-completion-script bash >completion
            # candidates WORD...: prints what a shell offers for the last word.
            candidates() (
              set +eu +o pipefail
              . ./completion
              COMP_WORDS=(merchantkeyctl "$@") COMP_CWORD=$# COMP_LINE="merchantkeyctl $*" COMPREPLY=()
              COMP_POINT=${#COMP_LINE}
              _merchantkeyctl merchantkeyctl "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
              printf '%s\n' "${COMPREPLY[@]}"
            )
            # offers WORD CANDIDATE: fails unless the candidates on standard input contain it.
            offers() { grep -F -- "$1" >/dev/null || { echo "not offered: $1" >&2; return 1; }; }
            candidates merchant show '' | offers "$merchant"
            candidates merchant show merchant.com | offers "$merchant"
            [ -z "$(candidates merchant show merchant.org)" ]
            candidates key show '' | offers "${hash%=}"
            candidates key show "${hash:0:5}" | offers "${hash%=}"
            candidates --socket "$MERCHANTKEYD_SOCKET" key show "${hash:0:5}" | offers "${hash%=}"
            candidates token inspect sh | offers shop.csr
            candidates key list --output j | offers json
            # Without a daemon there is no candidate and no error.
            export MERCHANTKEYD_SOCKET=$work/none.sock
            [ -z "$(candidates merchant show '' 2>&1)" ]
            """#
        }
        #expect(run.status == 0, "\(run.output.suffix(2000))")
    }

    @Test func `the manual pages describe every command, option and setting`() throws {
        let run = try ShellRun { _ in
            #"""
            generator='\#(Self.generator)'
            # roff: writes a hyphen as a manual page does.
            roff() { sed 's/-/\\-/g'; }
            # describes PAGE TEXT...: fails unless the page contains each line of standard input.
            describes() {
              local text
              while read -r text; do
                grep -F -- "$text" "$1" >/dev/null || { echo "$1 lacks $text" >&2; return 1; }
              done
            }
            for page in merchantkeyctl.1 merchantkeyd.8 applepay-sandbox.1; do
              program=${page%.*}
              "$program" --experimental-dump-help >"$program.json"
              python3 "$generator/generate-man-page.py" command "${page##*.}" 1.2.3 "$program.json" \
                "$generator/man/$page.roff" >"$page"
              jq -r '[.. | objects | select(.superCommands and (.subcommands | not) and .shouldDisplay)
                | (.superCommands[1:] + [.commandName]) | join(" ") | select(. != "help")][]' "$program.json" >commands
              [ "$program" = merchantkeyd ] || [ -s commands ]
              roff <commands | sed 's/^/.SS /' | describes "$page"
              jq -r '[.command | recurse(.subcommands[]? | select(.shouldDisplay)) | .arguments[]?
                | select(.shouldDisplay) | .names[]? | select(.kind == "long") | .name] | unique[]' "$program.json" >options
              [ -s options ]
              roff <options | sed 's/^/\\fB\\-\\-/; s/$/\\fR/' | describes "$page"
            done
            merchantkeyd settings-list >settings.json
            python3 "$generator/generate-man-page.py" settings 1.2.3 settings.json \
              "$generator/man/merchantkeyd.yaml.5.roff" >merchantkeyd.yaml.5
            jq -r '.settings[].name' settings.json >names
            [ "$(wc -l <names)" -gt 50 ]
            roff <names | sed 's/^/\\fB/; s/$/\\fR/' | describes merchantkeyd.yaml.5
            grep -F MERCHANTKEYD_LOG_LEVEL merchantkeyd.yaml.5 >/dev/null
            """#
        }
        #expect(run.status == 0, "\(run.output.suffix(2000))")
    }
}
