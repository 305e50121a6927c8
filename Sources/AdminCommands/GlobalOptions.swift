import ArgumentParser
import MerchantKeyClient

/// The options of every subcommand. On the command line they may also stand before the noun.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's admin socket.",
            discussion:
                "Default: MERCHANTKEYD_SOCKET, else merchantkeyd/admin.sock under XDG_STATE_HOME or ~/.local/state.",
            valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("Output format: table or json.", valueName: "form"))
    var output: OutputForm = .table

    var printer: Printer { Printer(form: output) }

    func adminSocketPath() throws -> String {
        try SocketLocation(environment: .ofThisProcess).admin(option: socket)
    }

    /// Runs `body` with a client of the admin socket, and shuts the client down afterwards.
    func withAdmin<Result>(
        connections: Int = 8, _ body: (AdminClient) async throws -> Result
    ) async throws -> Result {
        try await AdminClient.with(socketPath: try adminSocketPath(), connections: connections, body)
    }
}

/// The options of subcommands that use the decryptor socket.
struct DecryptorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's decryptor socket.", discussion: "Default: decryptor.sock beside the admin socket.",
            valueName: "path"))
    var decryptorSocket: String?

    func withDecryptor<Result>(
        _ global: GlobalOptions, _ body: (DecryptorClient) async throws -> Result
    ) async throws -> Result {
        let path = SocketLocation.decryptor(option: decryptorSocket, beside: try global.adminSocketPath())
        return try await DecryptorClient.with(socketPath: path, body)
    }
}

/// The output format of results.
package enum OutputForm: String, ExpressibleByArgument, CaseIterable, Sendable {
    case table, json
}
