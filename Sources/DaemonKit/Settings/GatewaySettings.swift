import AppleGateway
import Configuration
package import KeyCustody
package import Vocabulary

/// `apple.gateway` and `domain-check`: how Apple and merchants' sites are reached.
package struct GatewaySettings: Sendable {
    /// Nil: Apple's own for the environment.
    package var url: String?
    /// PEM files; empty: the system's roots.
    package var trustRoots: [String] = []
    /// Nil: the identity keys in custody.
    package var identityFiles: IdentityFiles.Location?
    /// Whose identity keys in custody are shown; nil: any platform integrator's.
    package var identityMerchant: MerchantIdentifier?
    package var connectTimeout: Duration = .seconds(10)
    package var answerTimeout: Duration = .seconds(30)
    package var domainCheck = DomainCheckSettings()
}

package struct DomainCheckSettings: Sendable {
    package var allowsInternalAddresses = false
    /// PEM files; empty: the system's roots.
    package var trustRoots: [String] = []
    /// `NAME=ADDRESS[:PORT]`.
    package var resolve: [String] = []
    package var timeout: Duration = .seconds(15)
}

extension GatewaySettings {
    static let texts = [
        "apple.gateway.url", "apple.gateway.identity.certificate", "apple.gateway.identity.private-key",
        "apple.gateway.identity.passphrase-file", "apple.gateway.identity.merchant-identifier",
        "apple.gateway.timeouts.connect", "apple.gateway.timeouts.answer", "domain-check.allow-internal-addresses",
        "domain-check.timeout",
    ]
    static let lists = ["apple.gateway.trust-roots", "domain-check.trust-roots", "domain-check.resolve"]

    static func read(_ reader: ConfigReader) throws -> GatewaySettings {
        let gateway = reader.scoped(to: "apple.gateway")
        var settings = GatewaySettings()
        settings.url = gateway.string(forKey: "url")
        settings.trustRoots = gateway.stringArray(forKey: "trust-roots", default: [])
        settings.identityFiles = try identityFiles(gateway)
        if let text = gateway.string(forKey: "identity.merchant-identifier") {
            guard let merchant = MerchantIdentifier(text) else {
                throw SettingsError(
                    "'apple.gateway.identity.merchant-identifier' is '\(text)', \(MerchantIdentifier.expectation)")
            }
            settings.identityMerchant = merchant
        }
        settings.connectTimeout =
            try duration(reader, "apple.gateway.timeouts.connect") ?? settings.connectTimeout
        settings.answerTimeout = try duration(reader, "apple.gateway.timeouts.answer") ?? settings.answerTimeout

        settings.domainCheck.allowsInternalAddresses = try boolean(reader, "domain-check.allow-internal-addresses")
        settings.domainCheck.trustRoots = reader.stringArray(forKey: "domain-check.trust-roots", default: [])
        settings.domainCheck.resolve = reader.stringArray(forKey: "domain-check.resolve", default: [])
        settings.domainCheck.timeout =
            try duration(reader, "domain-check.timeout") ?? settings.domainCheck.timeout
        return settings
    }

    private static func identityFiles(_ gateway: ConfigReader) throws -> IdentityFiles.Location? {
        let privateKey = gateway.string(forKey: "identity.private-key")
        let passphrase = gateway.string(forKey: "identity.passphrase-file")
        guard let certificate = gateway.string(forKey: "identity.certificate") else {
            guard privateKey == nil, passphrase == nil else {
                throw SettingsError(
                    "'apple.gateway.identity' has a private key or passphrase but no 'certificate', expected all of them or none"
                )
            }
            return nil
        }
        return IdentityFiles.Location(certificate: certificate, privateKey: privateKey, passphrase: passphrase)
    }

    private static func boolean(_ reader: ConfigReader, _ name: String) throws -> Bool {
        switch reader.string(forKey: ConfigKey(name)) {
        case nil, "false": return false
        case "true": return true
        case .some(let text): throw SettingsError("'\(name)' is '\(text)', expected true or false")
        }
    }

    /// Whole seconds, with or without the letter s: `30`, `30s`.
    private static func duration(_ reader: ConfigReader, _ name: String) throws -> Duration? {
        guard let text = reader.string(forKey: ConfigKey(name)) else { return nil }
        guard let seconds = Int(text.hasSuffix("s") ? String(text.dropLast()) : text), (1...60).contains(seconds)
        else {
            throw SettingsError("'\(name)' is '\(text)', expected 1s to 60s")
        }
        return .seconds(seconds)
    }
}
