import ArgumentParser

struct Diagnose: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose", abstract: "Look at everything the daemon stands on, whether it runs or not.",
        discussion: """
            Files and their modes, database, schema, master key, sockets, clock, certificates, disk space, limits: success, \
            warning or failure for each. Changes nothing. Run it as the daemon's user, on its machine. Exit \
            status: 0, or 1 where something failed.
            """)

    @OptionGroup var place: PlaceOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws { try DaemonProgram.become(["diagnose"] + place.arguments + global.outputArguments) }
}
