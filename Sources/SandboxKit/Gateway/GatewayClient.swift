import Vocabulary
import X509

/// The client of a call: what the gateway knows from the client's identity certificate.
struct GatewayClient: Hashable, Sendable {
    /// The hash of the identifier in extension 1.2.840.113635.100.6.32.
    let merchantHash: MerchantIdentifierHash
    /// Whether the certificate belongs to a platform, by the identifier in its subject. The hash does not show this.
    let isPlatformIntegrator: Bool

    /// - Throws: ``SandboxError`` if the certificate has no valid extension with the hash.
    init(_ certificate: Certificate) throws(SandboxError) {
        merchantHash = try AppleExtension.merchantHash(in: certificate)
        isPlatformIntegrator = certificate.subject.contains { relativeName in
            relativeName.contains { attribute in
                attribute.type == SandboxName.userIdentifier
                    && String(attribute.value).flatMap { MerchantIdentifier($0) }?.isPlatformIntegrator == true
            }
        }
    }

    /// Whether the certificate belongs to this merchant or platform.
    func isIdentity(of identifier: String) -> Bool {
        MerchantIdentifier(identifier).map { MerchantIdentifierHash(of: $0) } == merchantHash
    }
}
