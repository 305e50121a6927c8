import Foundation
import MerchantTestSupport
import Testing

/// The help of each command.
@Suite struct HelpTests {
    private struct Command: Decodable {
        let commandName: String
        var superCommands: [String]?
        var discussion: String?
        var subcommands: [Command]?

        /// The commands without subcommands, except `help`.
        var leaves: [Command] {
            guard commandName != "help" else { return [] }
            guard let subcommands, !subcommands.isEmpty else { return [self] }
            return subcommands.flatMap(\.leaves)
        }

        /// Such as `key show`, without the name of the program.
        var path: String { ((superCommands ?? []).dropFirst() + [commandName]).joined(separator: " ") }

        var examples: [String] {
            (discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("  merchantkeyctl ") }.map {
                String($0.dropFirst(2))
            }
        }
    }

    private struct Tool: Decodable {
        let command: Command
    }

    @Test func `each command's help has an example of the command, and its command line is valid`() async throws {
        let program = try Program()
        defer { program.remove() }
        let dump = try await program.run(["--experimental-dump-help"])
        let commands = try JSONDecoder().decode(Tool.self, from: Data(dump.output.utf8)).command.leaves
        #expect(commands.count > 45)
        for command in commands {
            let examples = command.examples
            #expect(!examples.isEmpty, "\(command.path)")
            for example in examples {
                #expect(example.hasPrefix("merchantkeyctl \(command.path)"), "\(example)")
                // Commands on files of the daemon run merchantkeyd, whose tests are elsewhere.
                guard
                    !["config", "diagnose", "backup", "master-key identify", "store"].contains(
                        where: command.path.hasPrefix)
                else { continue }
                let transcript = try await program.run(line: example)
                #expect(transcript.status != 2, "\(example): \(transcript.error)")
            }
        }
    }
}
