import MerchantCore
import Vocabulary

extension IdentityError {
    /// The error for an owner without an active identity key.
    static func noKey(of owner: IdentityOwner) -> IdentityError {
        switch owner {
        case .platform:
            .notConfigured(
                "there is no active identity key: generate one with key generate --purpose identity and upload its certificate, or set apple.gateway.identity.certificate"
            )
        case .merchant(let merchant):
            .notConfigured(
                "\(merchant) has no active identity key: generate one with key generate \(merchant) --purpose identity and upload its certificate"
            )
        }
    }

    /// The error for an owner whose active identity keys all lack a certificate that is valid at `time`.
    static func noValidCertificate(
        among keys: [IdentityKey], of owner: IdentityOwner, at time: Timestamp
    ) -> IdentityError {
        guard let last = keys.max(by: { $0.certificate.notAfter < $1.certificate.notAfter }) else {
            return noKey(of: owner)
        }
        let certificate = last.certificate
        let name = "the identity certificate \(certificate.serialNumber) of \(last.keyPair.merchantIdentifier)"
        guard time > certificate.notAfter else {
            return .unusable(
                "\(name) is not valid before \(certificate.notBefore): check the machine's clock, or wait until then")
        }
        return .unusable("\(name) expired at \(certificate.notAfter): upload a new certificate from Apple")
    }
}
