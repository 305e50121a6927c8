import ArgumentParser
import FoundationEssentials
import MerchantCore
import PostgresStore

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Create or upgrade the schema of the PostgreSQL database.",
        discussion: """
            The role in the connection string must own the database. Daemons of this version and of the previous \
            version can run meanwhile. If the role merchantkeyd_daemon exists, the command also grants it the \
            privileges that a daemon needs. On SQLite, the daemon upgrades the schema when it starts.
            """)

    @Option(
        help: """
            The connection string of the owner, without a password; the settings are then not read. Default: \
            store.postgresql.connection and its password file.
            """)
    var connection: String?

    @Option(help: "With --connection: the file with the owner's password, mode 0600.", completion: .file())
    var passwordFile: String?

    @OptionGroup var settingsOptions: SettingsOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        guard passwordFile == nil || connection != nil else {
            throw ValidationError("--password-file needs --connection")
        }
    }

    private struct Outcome: Encodable {
        let database: String
        /// 0 for a database that was empty.
        let versionBefore: Int
        let version: Int
    }

    func run() async throws {
        let settings = try ownerSettings()
        let versions = try PostgresDatabase.migrate(settings, clock: SystemClock())
        let outcome = Outcome(
            database: settings.databaseName, versionBefore: versions.before, version: versions.now)
        try report.show(
            outcome,
            [
                ("database", outcome.database),
                ("schema version", "\(versions.now)"),
                ("before", versions.before == 0 ? "no schema" : "\(versions.before)"),
            ])
    }

    /// - Throws: ``SettingsError``.
    private func ownerSettings() throws -> ConnectionSettings {
        guard let connection else {
            guard let postgresql = try settingsOptions.settingsAsDaemon().store.postgresql else {
                throw SettingsError(
                    "there is nothing to migrate: 'store.kind' is sqlite, and the daemon upgrades its database when it starts"
                )
            }
            return postgresql.connection
        }
        let file = passwordFile.map { PasswordFile(path: $0, credentialsDirectory: nil) }
        do throws(MerchantError) { return try ConnectionSettings(connection) { try file?.read() } } catch {
            throw SettingsError("'--connection': \(error.detail)")
        }
    }
}
