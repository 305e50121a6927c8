extension ConnectionSettings {
    /// The database and its server, for messages: "merchantkeyd on db.example". Contains no password.
    package var databaseName: String {
        let name = options["dbname"] ?? options["user"] ?? "the user's database"
        let server = options["host"] ?? options["hostaddr"] ?? "the default server"
        return "\(name) on \(server)"
    }
}
