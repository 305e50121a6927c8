package import Logging
package import MerchantCore
package import Vocabulary

/// Everything that can be set, read once at start into types that hold only valid values.
package struct Settings: Sendable {
    package var environment: Environment
    /// Who may ask for what; the standard policy where the file has no `callers`.
    package var policy: CallerPolicy
    package var hasCallers: Bool
    /// PEM files with the roots that payment tokens chain to; empty: Apple Root CA - G3, which is built in.
    package var tokenRoots: [String]
    /// PEM files with the CAs that certify our keys; nil: certificates are stored as `issuerVerified: false`.
    package var certificateIssuers: [String]?
    package var stateDirectory: String
    package var masterKey: MasterKeySettings
    package var adminSocket: SocketSettings
    package var decryptorSocket: SocketSettings
    package var logLevel: Logger.Level
    /// Where the audit's head is taken, off the database.
    package var auditHead: AuditHeadSettings
    /// Backups by schedule; nil: none are made.
    package var backup: BackupSettings?
    package var gateway = GatewaySettings()
    package var events: EventSettings
    package var rolls: RollPolicy

    package struct AuditHeadSettings: Sendable, Hashable {
        /// A line is appended to this file for each head; nil: none is.
        package var file: String?
        /// The local syslog daemon's socket; nil: it is not told.
        package var syslog: String?
        package var every: Duration
        /// How often an event tells it, which webhooks take away; nil: none does.
        package var eventEvery: Duration?
    }

    package struct BackupSettings: Sendable, Hashable {
        package var directory: String
        package var every: Duration
        /// How many of the schedule's own files stay.
        package var keep: Int
    }

    /// Where a socket is and who may connect to it.
    package struct SocketSettings: Sendable, Hashable {
        package var path: String
        package var mode: UInt32
    }

    package var databasePath: String { "\(stateDirectory)/merchantkeyd.sqlite" }
    package var claimsPath: String { "\(stateDirectory)/claims.sqlite" }
    package var restoreMarkerPath: String { "\(stateDirectory)/restore-under-way" }
    package var lockPath: String { "\(stateDirectory)/merchantkeyd.lock" }
}

/// Why the settings were refused: which setting, what was found, what was expected.
package struct SettingsError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
