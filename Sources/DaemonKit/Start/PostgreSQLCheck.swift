/// Checks what a start on PostgreSQL reads before it connects. Does not connect to the server.
enum PostgreSQLCheck {
    static func run(_ settings: Settings, _ findings: inout PreparationFindings) {
        guard let postgresql = settings.store.postgresql else { return }
        if let file = postgresql.passwordFile {
            _ = findings.collect("'store.postgresql.password-file': ") { _ = try file.read() }
        }
        // The daemon would not use the keys in this file, so payments for these keys would fail.
        if FileStatus(of: settings.databasePath) != nil {
            findings.refuse(
                "the state directory contains the SQLite database \(settings.databasePath), which the daemon does not use with 'store.kind: postgresql'; copy its data with 'merchantkeyctl store copy' if the daemon needs it, and move the database away; or set 'state-directory' to another directory"
            )
        }
    }
}
