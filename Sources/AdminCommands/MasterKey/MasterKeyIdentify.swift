import ArgumentParser

struct MasterKeyIdentify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify", abstract: "Show the identifier of the master key in a file.",
        discussion: """
            Works without the daemon. If a backup needs another master key, the message of 'backup verify' contains the \
            identifier of that key.
            """,
        examples: ["master-key identify master.key"])

    @Argument(help: "The file with the master key: 32 bytes, mode 0600.", completion: .file())
    var file: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try DaemonProgram.execute(["master-key-identify", file] + global.outputArguments)
    }
}
