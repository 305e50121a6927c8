package import AppleGateway
package import KeyCustody
package import Vocabulary

/// `apple.gateway`: the connection to Apple for registrations, merchant sessions and merchant tokens.
package struct GatewaySettings: Sendable {
    /// Nil: Apple's own host for the environment.
    package let endpoint: GatewayEndpoint?
    /// PEM files; empty: the system's roots.
    package let trustRoots: [String]
    /// The files with the certificate and private key with which the daemon authenticates to Apple; nil: the identity
    /// keys in the database are used.
    package let identityFiles: IdentityFiles.Location?
    /// The owner of the identity keys that are used from the database; nil: every `platformintegrator.…` identifier.
    package let identityMerchant: MerchantIdentifier?
    package let connectTimeout: Duration
    package let responseTimeout: Duration

    init(reading reader: SettingsReader) throws {
        let url = reader.optional(
            "apple.gateway.url", .text, whenUnset: "Apple's host for the environment",
            "The base URL of Apple's gateway.")
        trustRoots =
            reader.list(
                "apple.gateway.trust-roots", .text, whenUnset: "the system's roots",
                "PEM files with the roots that the gateway's TLS certificate must chain to.") ?? []
        let certificate = reader.optional(
            "apple.gateway.identity.certificate", .text,
            whenUnset: "the newest valid identity certificate in the database",
            "The TLS client certificate, which Apple calls identity certificate: PEM, or PKCS#12 with the private key.")
        let privateKey = reader.optional(
            "apple.gateway.identity.private-key", .text, whenUnset: "in the certificate's file",
            "The private key of the TLS client certificate, PEM.")
        let passphrase = reader.optional(
            "apple.gateway.identity.passphrase-file", .text, whenUnset: "none",
            "A file whose first line is the passphrase of the private key or of the PKCS#12 file.")
        identityMerchant = reader.optional(
            "apple.gateway.identity.merchant-identifier", .merchantIdentifier,
            whenUnset: "any platformintegrator.… identifier",
            "The identifier whose identity certificate in the database is used, if no certificate file is set.")
        connectTimeout = reader.value(
            "apple.gateway.timeouts.connect", .timeout, default: "10s",
            "How long the daemon waits for a connection to Apple.")
        responseTimeout = reader.value(
            "apple.gateway.timeouts.answer", .timeout, default: "30s",
            "How long one attempt to call Apple may take, from the start of the request to the end of the response.")

        endpoint =
            reader.collect {
                do { return try url.map { try GatewayEndpoint($0) } } catch {
                    throw SettingsError("'apple.gateway.url': \(error)")
                }
            } ?? nil
        if certificate == nil, privateKey != nil || passphrase != nil {
            reader.record(
                "'apple.gateway.identity' has a private key or passphrase but no 'certificate'; set 'certificate', or remove the other settings"
            )
        }
        identityFiles = certificate.map {
            IdentityFiles.Location(certificate: $0, privateKey: privateKey, passphrase: passphrase)
        }
    }
}
