import Glibc
import MerchantCore
import PostgresStore
import Vocabulary

/// `store`: where the daemon stores its data.
package enum StoreSettings: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case sqlite, postgresql
    }

    /// In files of the state directory.
    case sqlite
    case postgresql(PostgreSQLSettings)

    package var kind: Kind { postgresql == nil ? .sqlite : .postgresql }

    package var postgresql: PostgreSQLSettings? {
        if case .postgresql(let settings) = self { settings } else { nil }
    }

    /// Reads `store`.
    ///
    /// - Throws: ``SettingsError`` if the settings do not fit together. No error contains the connection string,
    ///   because it may contain a password by mistake.
    init(reading reader: SettingsReader, environment variables: [String: String]) throws {
        let kind: Kind = reader.value(
            "store.kind", .choice, default: "sqlite",
            "Where the daemon stores its data: sqlite, in the state directory, or postgresql.")
        let connection = reader.optional(
            "store.postgresql.connection", .text, whenUnset: "-",
            "For the kind postgresql: libpq's connection string of the database, without the password.")
        let passwordFile = reader.optional(
            "store.postgresql.password-file", .absolutePath, whenUnset: "no password",
            "For the kind postgresql: the file with the password, mode 0600.")
        let node = reader.optional(
            "store.postgresql.node", .nodeName, whenUnset: "the host's name",
            "For the kind postgresql: the name of this daemon. No other daemon on the database may have it.")
        let lease: Duration = reader.value(
            "store.postgresql.lease", .duration(inSeconds: 2...60, from: "2s", to: "60s"), default: "10s",
            "For the kind postgresql: how long the daemon uses the keys in its memory if it cannot reach the server.")
        let serveStale: Duration = reader.value(
            "store.postgresql.serve-stale", .duration(inSeconds: 0...86_400, from: "0s", to: "1d"), default: "0s",
            "For the kind postgresql: how much longer the daemon uses these keys after its lease has ended, although another daemon may have revoked them."
        )
        switch kind {
        case .sqlite:
            let names = [
                "store.postgresql.connection", "store.postgresql.password-file", "store.postgresql.node",
                "store.postgresql.lease", "store.postgresql.serve-stale",
            ]
            let problems = names.filter(reader.isSet).map {
                "'\($0)' is set, but has an effect only with 'store.kind: postgresql'; set that or remove '\($0)'"
            }
            guard problems.isEmpty else { throw SettingsError(problems: problems) }
            self = .sqlite
        case .postgresql:
            self = .postgresql(
                try PostgreSQLSettings(
                    connection: connection,
                    passwordFile: passwordFile.map {
                        PasswordFile(path: $0, credentialsDirectory: variables["CREDENTIALS_DIRECTORY"])
                    }, node: node, lease: LeaseTiming(length: lease, serveStale: serveStale)))
        }
    }
}

/// `store.postgresql`: how the daemon connects to PostgreSQL, and how it shares the database with other daemons.
package struct PostgreSQLSettings: Sendable {
    let connection: ConnectionSettings
    /// nil: the server needs no password.
    let passwordFile: PasswordFile?
    /// The name of this daemon among the daemons on the database.
    let node: NodeName
    let lease: LeaseTiming

    /// - Parameter node: nil: the name of the host.
    /// - Throws: ``SettingsError`` if the connection string is missing or not accepted, or if the name of the host
    ///   cannot be the name of a node.
    init(connection text: String?, passwordFile: PasswordFile?, node: NodeName?, lease: LeaseTiming) throws {
        guard let text, !text.isEmpty else {
            throw SettingsError(
                "'store.postgresql.connection' is not set, but 'store.kind' is postgresql; set it to the connection string of the database, such as 'host=/run/postgresql dbname=merchantkeyd'"
            )
        }
        guard let name = node ?? Self.hostName else {
            throw SettingsError(
                "'store.postgresql.node' is not set, and the host's name cannot be used instead; set it to a name that no other daemon on the database has; \(NodeName.expectation)"
            )
        }
        self.passwordFile = passwordFile
        self.node = name
        self.lease = lease
        do throws(MerchantError) {
            connection = try ConnectionSettings(text) { try passwordFile?.read() }
        } catch {
            throw SettingsError("'store.postgresql.connection': \(error.detail)")
        }
    }

    /// nil if the host's name is not known or does not have the format of a node's name.
    private static var hostName: NodeName? {
        // The last byte stays zero.
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let name = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return NodeName(String(decoding: name, as: UTF8.self))
    }
}

extension SettingFormat where Value == NodeName {
    static var nodeName: Self { Self(expectation: NodeName.expectation) { NodeName($0) } }
}
