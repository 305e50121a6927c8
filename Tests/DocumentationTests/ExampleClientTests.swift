import Foundation
import MerchantTestSupport
import Testing

/// The clients in docs/examples. Those whose runtime is installed are run; Python always is.
@Suite(.serialized) struct ExampleClientTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let language: String
        let file: String
        let command: [String]
        /// A shell command that succeeds if the runtime has everything that the example needs.
        var check = "true"

        var testDescription: String { file }
        var isRunnable: Bool { ShellRun.isInstalled(command[0]) && ChildProcess.succeeds("sh", "-c", check) }
    }

    static let all = [
        Example(language: "python", file: "decrypt.py", command: ["python3"]),
        Example(language: "js", file: "decrypt.js", command: ["node"]),
        Example(language: "go", file: "decrypt.go", command: ["go", "run"]),
        Example(
            language: "php", file: "decrypt.php", command: ["php"],
            check: "php -r 'exit(function_exists(\"curl_init\") ? 0 : 1);'"),
        Example(language: "java", file: "Decrypt.java", command: ["java"], check: "java --version"),
    ]

    private static func run(_ example: Example, _ commands: String) throws -> ShellRun {
        try ShellRun { _ in
            """
            merchantkeyctl merchant add "$merchant"
            certified_key shop
            token shop.cer token.json --amount 1999
            example() { \(example.command.joined(separator: " ")) "$documents/examples/\(example.file)" "$@" "$merchant" 1999; }
            \(commands)
            """
        }
    }

    @Test("an example client takes a payment once", arguments: all.filter(\.isRunnable))
    func taken(_ example: Example) throws {
        let run = try Self.run(
            example,
            """
            [ "$(example "$work/run/decryptor.sock" token.json)" = "amount: 1999" ]
            if example "$work/run/decryptor.sock" token.json 2>refusal; then exit 9; fi
            grep -q '^409 tokenAlreadyClaimed: ' refusal
            """)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test(
        "an example client repeats the request if no response arrives, and gets the payment",
        arguments: all.filter(\.isRunnable))
    func repeated(_ example: Example) throws {
        let run = try Self.run(
            example,
            """
            python3 "$scripts/lose_response.py" "$work/run/lossy.sock" "$work/run/decryptor.sock" >lossy.out &
            gateway=$!
            await '[ -s lossy.out ]'
            [ "$(example "$work/run/lossy.sock" token.json)" = "amount: 1999" ]
            """)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("an example client prints its usage if arguments are missing", arguments: all.filter(\.isRunnable))
    func usage(_ example: Example) throws {
        let run = try Self.run(
            example,
            """
            if example 2>usage; then exit 9; fi
            grep -q '^usage: ' usage
            """)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test("decryptor-api.md contains each example client as it is in its file", arguments: all)
    func included(_ example: Example) throws {
        let text = try String(
            contentsOf: MarkdownDocument.root.appending(path: "docs/examples/\(example.file)"), encoding: .utf8)
        #expect(try MarkdownDocument("docs/decryptor-api.md").blocks(example.language).contains(text))
    }

    @Test func `the Python client is always tested`() { #expect(Self.all[0].isRunnable) }
}
