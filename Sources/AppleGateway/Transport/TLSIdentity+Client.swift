import MerchantCore
import OutboundHTTP

extension TLSIdentity {
    init(_ identity: ClientIdentity) {
        self.init(
            certificateChain: identity.certificateChain,
            signatureSchemes: identity.signatureAlgorithms.map(\.rawValue)
        ) { scheme, bytes in
            guard let algorithm = TLSSignatureAlgorithm(rawValue: scheme) else {
                throw IdentityError.unusable("TLS asks for the unknown signature scheme \(scheme)")
            }
            return try identity.sign(algorithm, bytes)
        }
    }
}
