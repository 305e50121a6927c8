import ArgumentParser
import MerchantKeyClient

/// The options of every subcommand. On the command line they may also stand before the command group, as in
/// `merchantkeyctl --output json key list`.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connect to the daemon's admin socket at this path.",
            discussion: """
                Default: the environment variable MERCHANTKEYD_SOCKET, else $XDG_STATE_HOME/merchantkeyd/admin.sock, \
                else ~/.local/state/merchantkeyd/admin.sock.
                """,
            valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Print results as table or json.",
            discussion: "With json, an error is one JSON object on the last line of standard error.",
            valueName: "format"))
    var output: OutputFormat = .table

    @Flag(name: .shortAndLong, help: "Print only results and errors: no notes, no warnings, no progress.")
    var quiet = false

    var printer: Printer { Printer(format: output, isQuiet: quiet) }

    func adminSocketPath() throws -> String {
        try SocketLocation(environment: .ofThisProcess).adminSocket(option: socket)
    }

    /// Runs `body` with a client of the admin socket, and shuts the client down afterwards.
    ///
    /// - Parameter connections: how many calls can run at the same time.
    func withAdminClient<Result>(
        connections: Int = 8, _ body: (AdminClient) async throws -> Result
    ) async throws -> Result {
        try await AdminClient.with(socketPath: try adminSocketPath(), connections: connections, body)
    }
}

/// The options of subcommands that use the decryptor socket.
struct DecryptorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connect to the daemon's decryptor socket at this path.",
            discussion: "Default: decryptor.sock in the directory of the admin socket.", valueName: "path"),
        completion: .file())
    var decryptorSocket: String?

    func withDecryptorClient<Result>(
        _ global: GlobalOptions, _ body: (DecryptorClient) async throws -> Result
    ) async throws -> Result {
        let path = SocketLocation.decryptorSocket(
            option: decryptorSocket, besideAdminSocket: try global.adminSocketPath())
        return try await DecryptorClient.with(socketPath: path, body)
    }
}

/// The values of `--output`.
package enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case table, json
}
