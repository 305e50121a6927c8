import ArgumentParser

struct Diagnose: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Check files, database, keys and settings; works with the daemon stopped.",
        discussion: """
            Checks files and their modes, database, schema, master key, sockets, clock, certificates, disk space and \
            limits, and changes nothing. Run it as the daemon's user or as root, on the daemon's machine. Exit status: \
            0, 1 if a check failed, or 4 if a setting does not work or could not be checked.
            """,
        examples: ["diagnose --config /etc/merchantkeyd/merchantkeyd.yaml"])

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try DaemonProgram.execute(["diagnose"] + paths.arguments(global) + global.outputArguments)
    }
}
