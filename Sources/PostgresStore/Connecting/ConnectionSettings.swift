import CLibPQ
package import MerchantCore
package import Secrets

/// How the store connects to PostgreSQL: a validated connection string, the source of the password, and the time
/// limits.
package struct ConnectionSettings: Sendable {
    /// Returns the password; nil if the server needs none. Called for each connection, so that a new password is used
    /// without a restart.
    package typealias PasswordSource = @Sendable () throws -> SecretBytes?

    /// libpq's keywords and values.
    package private(set) var options: [String: String]
    let password: PasswordSource
    package let limits: Limits

    /// - Parameters:
    ///   - text: libpq's connection string: `host=db.example user=merchantkeyd sslmode=verify-full`, or
    ///     `postgresql://…`. It must not contain the password.
    ///   - defaults: what libpq uses for an option that is not in the string: its own defaults, and the values of the
    ///     environment, such as `PGHOST`.
    /// - Throws: `storeUnavailable` if libpq cannot parse the string, if the string contains a password or `service`,
    ///   or if it violates ``TransportRule``. The error never contains the string, which may contain a password.
    package init(
        _ text: String, limits: Limits = Limits(), defaults: [String: String] = Self.libpqDefaults(),
        password: @escaping PasswordSource = { nil }
    ) throws(MerchantError) {
        var options = try Self.parse(text)
        for keyword in ["password", "sslpassword"] where options[keyword] != nil {
            throw Self.refusal(
                "contains \(keyword), which other users can see in the settings: remove it, and name a file with the password in the setting store.postgresql.password-file"
            )
        }
        if options["service"] != nil {
            throw Self.refusal("contains service: write the host, the database and the user into the string instead")
        }
        let effective = defaults.merging(options) { $1 }
        if let rule = TransportRule.refusal(of: effective) { throw Self.refusal(rule) }
        // GSSAPI would encrypt the connection without the server's certificate, so verify-full would have no effect.
        if TransportRule.needsTLS(effective) { options["gssencmode"] = "disable" }
        options["client_encoding"] = "UTF8"
        for (keyword, value) in limits.options { options[keyword] = options[keyword] ?? value }
        options["application_name"] = options["application_name"] ?? "merchantkeyd"
        self.options = options
        self.limits = limits
        self.password = password
    }

    /// The same settings for another database of the same server.
    package func naming(database: String) -> ConnectionSettings {
        var copy = self
        copy.options = options.merging(["dbname": database]) { $1 }
        return copy
    }

    private static func refusal(_ reason: String) -> MerchantError {
        MerchantError(.storeUnavailable, "the connection string of the PostgreSQL database \(reason)")
    }

    private static func parse(_ text: String) throws(MerchantError) -> [String: String] {
        guard let found = PQconninfoParse(text, nil) else {
            throw refusal(
                "cannot be parsed: see 'Connection Strings' in the chapter on libpq of the PostgreSQL manual; an example is 'host=db.example dbname=merchantkeyd user=merchantkeyd sslmode=verify-full'"
            )
        }
        defer { PQconninfoFree(found) }
        return dictionary(found)
    }

    /// libpq's own defaults and the values of the environment, such as `PGHOST`, by keyword. Empty if libpq cannot
    /// determine them.
    package static func libpqDefaults() -> [String: String] {
        guard let found = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(found) }
        return dictionary(found)
    }

    /// The options that have a value. The array ends with an option without a keyword.
    private static func dictionary(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}

extension ConnectionSettings {
    /// Time limits, and the sizes of the pool and its queue.
    package struct Limits: Sendable {
        /// After this time, the server cancels a statement.
        package var statement = Duration.seconds(10)
        /// After this time, the server stops waiting for a lock, such as the lock of another daemon that writes.
        package var lock = Duration.seconds(5)
        /// After this time without a statement, the server ends a transaction and its connection.
        package var idleTransaction = Duration.seconds(30)
        /// The same for a transaction that writes. Other daemons wait for such a transaction, so this limit is less
        /// than ``lock``.
        package var idleWrite = Duration.seconds(3)
        /// How long a new connection may take, for each host of the connection string. libpq uses whole seconds, at
        /// least 2.
        package var connecting = Duration.seconds(5)
        /// The number of connections for reads.
        package var readers = 8
        /// How long a read waits for a thread, and then for a connection.
        package var waiting = Duration.seconds(5)
        /// How many reads and how many writes can wait. Further reads and writes are refused with `overloaded`.
        package var queue = 16384
        /// How long the store asks for the outcome of a commit whose response it did not receive.
        package var settlement = Duration.seconds(10)

        /// How long the store waits for a response. The server's limit ``statement`` ends the wait earlier, unless the
        /// server hangs.
        var response: Duration { statement + .seconds(5) }

        package init() {}

        /// The limits as options of libpq. With the TCP options, libpq detects that the server cannot be reached any
        /// more.
        fileprivate var options: [String: String] {
            [
                "connect_timeout": "\(max(2, connecting.components.seconds))",
                "tcp_user_timeout": "\(response.milliseconds)", "keepalives_idle": "10",
                "keepalives_interval": "5", "keepalives_count": "3",
            ]
        }
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
