import ArgumentParser
import Glibc
import LocalSocket

/// Hidden in the help, because it is for service managers. Operators run `merchantkeyctl reload`, which also prints
/// what has changed.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make the running daemon reload its settings, and wait for the result.",
        discussion: """
            For the systemd unit. Sends SIGHUP to the daemon, so it needs no permit, but it must run as root or as the \
            daemon's user. Exit status: 0 if the daemon has applied the settings, 1 if it has refused them.
            """,
        shouldDisplay: false)

    /// How long the daemon may take, in seconds. It reads every file that the settings name.
    private static let longestReload = 60

    // The command `merchantkeyd` itself also has the option --state-directory, so a subcommand must use the same option
    // group.
    @OptionGroup var settingsOptions: SettingsOptions

    func validate() throws {
        guard settingsOptions.stateDirectory != nil else {
            throw ValidationError("name the daemon's state directory with --state-directory")
        }
    }

    func run() async throws {
        guard let stateDirectory = settingsOptions.stateDirectory else { return }
        // The daemon must be able to write to the socket that this process creates.
        FileOwner.become(of: stateDirectory)
        guard let process = InstanceLock.holder(ofDirectory: stateDirectory) else {
            throw SettingsError(
                "no merchantkeyd uses the state directory \(stateDirectory); start the daemon, or name its state directory"
            )
        }
        let path = ReloadResult.socketPath(in: stateDirectory)
        guard let receiver = UnixDatagramReceiver(path: path) else {
            throw SettingsError(
                "the socket \(path) cannot be created: \(String(cString: strerror(errno))); free space on the disk, or run 'merchantkeyctl reload'"
            )
        }
        guard kill(process, SIGHUP) == 0 else {
            throw SettingsError(
                "SIGHUP cannot be sent to merchantkeyd, process \(process): \(String(cString: strerror(errno))); run the command as root or as the daemon's user"
            )
        }
        let text = receiver.next(withinSeconds: Self.longestReload)
        switch text.flatMap({ ReloadResult($0) }) {
        case .reloaded?: break
        case .refused(let reason)?: throw SettingsError(reason)
        case nil:
            throw SettingsError(
                "merchantkeyd, process \(process), did not report a result within \(Self.longestReload) s; look for 'settings reloaded' in its log"
            )
        }
    }
}
