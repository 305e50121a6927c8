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
    package var masterKeyFile: String
    package var adminSocket: SocketSettings
    package var decryptorSocket: SocketSettings
    package var logLevel: Logger.Level
    package var rolls: RollPolicy

    /// Where a socket is and who may connect to it.
    package struct SocketSettings: Sendable, Hashable {
        package var path: String
        package var mode: UInt32
    }

    package var databasePath: String { "\(stateDirectory)/merchantkeyd.sqlite" }
    package var lockPath: String { "\(stateDirectory)/merchantkeyd.lock" }
}

/// Why the settings were refused: which setting, what was found, what was expected.
package struct SettingsError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
