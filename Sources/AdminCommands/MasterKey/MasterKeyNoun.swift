import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MasterKeyNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "master-key", abstract: "The key that seals all others.",
        subcommands: [MasterKeyRotate.self, MasterKeyShowStatus.self, MasterKeyIdentify.self])
}

struct MasterKeyShowStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show which master key is in use and how far a rotation has come.")

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.masterKey()
            try global.printer.show(answer.json) { answer.document.blocks }
        }
    }
}

struct MasterKeyIdentify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify", abstract: "Say which master key a file holds, such as a copy kept elsewhere.",
        discussion: "Works without the daemon. 'backup verify' names the master key that a backup needs.")

    @Argument(help: "A file of 32 bytes, mode 0600.")
    var file: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try DaemonProgram.become(["master-key-identify", file] + global.outputArguments)
    }
}

extension MasterKeyDocument {
    var blocks: [Block] {
        [
            .record([
                ("master key", Cell(masterKeyIdentifier)), ("comes from", Cell(source)),
                ("data key", Cell("\(dataKeyIdentifier)")),
                ("rotation", rotation.map { Cell($0.state, $0.obstacle == nil ? .plain : .warning) }),
                ("of", rotation.map { Cell($0.dataKeyOnly ? "the data key alone" : "master key and data key") }),
                ("sealed anew", rotation.map { Cell("\($0.done) of \($0.total)") }),
                ("began (UTC)", rotation.map { Cell(time: $0.startedAt) }),
                ("ended (UTC)", rotation?.finishedAt.map { Cell(time: $0) }),
                ("obstacle", rotation?.obstacle.map { Cell($0, .warning) }),
            ])
        ]
    }
}
