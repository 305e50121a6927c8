import ArgumentParser
import MerchantKeyClient

/// The options of every subcommand. On the command line they may also stand before the command group, as in
/// `merchantkeyctl --output json key list`.
struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connect to the daemon's admin socket at this path.",
            discussion: """
                Default: the environment variable MERCHANTKEYD_SOCKET; else $XDG_STATE_HOME/merchantkeyd/admin.sock, \
                where XDG_STATE_HOME is ~/.local/state if it is not set; else, if that socket does not exist, \
                /run/merchantkeyd/admin.sock.
                """,
            valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        name: [.customLong("output"), .customShort("o")],
        help: ArgumentHelp(
            "Print results as table, wide or json.",
            discussion: """
                On a terminal, a table omits columns and shortens texts to fit the terminal's width; wide shows \
                everything. A table in a file or a pipe is always complete. With json, an error is one JSON \
                object on the last line of standard error.
                """,
            valueName: "format"))
    var outputArgument: OutputArgument = .table

    @Option(
        help: ArgumentHelp(
            "Print only these columns of tables, separated by commas, such as merchant,state.",
            discussion: "The name of a column is its heading with hyphens: public-key-hash, valid-to.",
            valueName: "columns"), transform: ColumnsArgument.parse)
    var columns: ColumnsArgument?

    @Flag(name: .shortAndLong, help: "Print only results and errors: no notes, no warnings, no progress.")
    var quiet = false

    var output: OutputFormat { outputArgument == .json ? .json : .table }

    var printer: Printer {
        Printer(
            format: output, isQuiet: quiet,
            layout: TableLayout(
                columns: columns?.names, width: outputArgument == .wide ? nil : TableLayout.terminalWidth))
    }

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
        let path = try SocketLocation(environment: .ofThisProcess).decryptorSocket(
            option: decryptorSocket, adminOption: global.socket)
        return try await DecryptorClient.with(socketPath: path, body)
    }
}

/// The values of `--output`.
package enum OutputArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case table, wide, json
}

/// The form of the output.
package enum OutputFormat: String, Sendable {
    case table, json
}

/// The value of `--columns`.
package struct ColumnsArgument: Hashable, Sendable {
    package let names: [String]

    package static func parse(_ text: String) throws -> ColumnsArgument {
        let names = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        // The argument parser prints "The value '…' is invalid for '…': " before this message.
        guard names.allSatisfy({ !$0.isEmpty }) else {
            throw ValidationError("it has an empty name, expected names separated by commas")
        }
        return ColumnsArgument(names: names)
    }
}
