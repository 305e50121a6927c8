package import AppleGateway
package import KeyCustody
package import Vocabulary

/// `apple.gateway`: the connection to Apple's Web Merchant Registration API.
package struct GatewaySettings: Sendable {
    /// Nil: Apple's own host for the environment.
    package let endpoint: GatewayEndpoint?
    /// PEM files; empty: the system's roots.
    package let trustRoots: [String]
    /// The files with the identity certificate and its private key; nil: the identity keys in custody are used.
    package let identityFiles: IdentityFiles.Location?
    /// The merchant whose identity keys in custody are used; nil: any platform integrator.
    package let identityMerchant: MerchantIdentifier?
    package let connectTimeout: Duration
    package let answerTimeout: Duration

    init(reading reader: SettingsReader) throws {
        let url = try reader.optional(
            "apple.gateway.url", .text, whenUnset: "Apple's host for the environment",
            "The base URL of Apple's gateway.")
        trustRoots =
            try reader.list(
                "apple.gateway.trust-roots", .text, whenUnset: "the system's roots",
                "PEM files with the roots that the gateway's certificate must chain to.") ?? []
        let certificate = try reader.optional(
            "apple.gateway.identity.certificate", .text, whenUnset: "the newest valid identity key in custody",
            "The platform integrator's identity certificate, PEM, or a PKCS#12 file with its private key.")
        let privateKey = try reader.optional(
            "apple.gateway.identity.private-key", .text, whenUnset: "in the PKCS#12 file",
            "The private key of the identity certificate, PEM.")
        let passphrase = try reader.optional(
            "apple.gateway.identity.passphrase-file", .text, whenUnset: "none",
            "A file whose first line is the passphrase of the identity.")
        identityMerchant = try reader.optional(
            "apple.gateway.identity.merchant-identifier", .merchantIdentifier,
            whenUnset: "any platformintegrator.… identifier", "The merchant whose identity keys in custody are used.")
        connectTimeout = try reader.value(
            "apple.gateway.timeouts.connect", .timeout, default: "10s", "How long a connection to Apple may take.")
        answerTimeout = try reader.value(
            "apple.gateway.timeouts.answer", .timeout, default: "30s",
            "How long one request to Apple may take, from its start to the end of the response.")

        do { endpoint = try url.map { try GatewayEndpoint($0) } } catch {
            throw SettingsError("'apple.gateway.url': \(error)")
        }
        guard certificate != nil || (privateKey == nil && passphrase == nil) else {
            throw SettingsError(
                "'apple.gateway.identity' has a private key or passphrase but no 'certificate', expected all of them or none"
            )
        }
        identityFiles = certificate.map {
            IdentityFiles.Location(certificate: $0, privateKey: privateKey, passphrase: passphrase)
        }
    }
}
