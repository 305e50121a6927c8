import Crypto
import CryptoExtras
import SwiftASN1
import Vocabulary
import X509

/// A CSR that Apple's portal would accept for the purpose: its signature holds and its key is of a permitted kind.
///
/// Source: Apple, TN3206 "Renewing Apple Pay certificates"; account help, "Create a certificate signing request".
struct SigningRequest {
    let publicKey: Certificate.PublicKey

    /// - Parameter bytes: PKCS#10, PEM or DER.
    init(_ bytes: [UInt8], purpose: KeyPurpose) throws(SandboxFault) {
        let expected = "one PKCS#10 certificate signing request, PEM or DER"
        let der = try EncodedFile.der(
            of: bytes, labels: ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"], expected: expected)
        guard let request = try? CertificateSigningRequest(derEncoded: der) else {
            throw SandboxFault("found DER that is no CSR, expected \(expected)")
        }
        let found = try Self.kind(of: request.publicKey)
        guard Self.kinds(for: purpose).contains(found) else {
            let kinds = Self.kinds(for: purpose).map(\.rawValue).joined(separator: " or ")
            throw SandboxFault("found a CSR for \(found.rawValue), expected \(kinds) for a \(purpose) certificate")
        }
        guard request.signatureAlgorithm == found.signatureAlgorithm else {
            throw SandboxFault(
                "found a CSR signed with \(request.signatureAlgorithm), expected \(found.signatureAlgorithm)")
        }
        guard request.publicKey.isValidSignature(request.signature, for: request) else {
            throw SandboxFault("found a CSR whose signature does not hold, expected one made with its own private key")
        }
        publicKey = request.publicKey
    }

    /// Named as Apple's portal names them in its refusals.
    private enum Kind: String {
        case p256 = "EC(P-256)"
        case rsa2048 = "RSA(2048)"

        var signatureAlgorithm: Certificate.SignatureAlgorithm {
            switch self {
            case .p256: .ecdsaWithSHA256
            case .rsa2048: .sha256WithRSAEncryption
            }
        }
    }

    private static func kinds(for purpose: KeyPurpose) -> [Kind] {
        switch purpose {
        case .paymentProcessing: [.p256, .rsa2048]
        case .identity: [.rsa2048]
        }
    }

    private static func kind(of key: Certificate.PublicKey) throws(SandboxFault) -> Kind {
        if P256.Signing.PublicKey(key) != nil { return .p256 }
        if let rsa = _RSA.Signing.PublicKey(key), rsa.keySizeInBits == 2048 { return .rsa2048 }
        throw SandboxFault("found a CSR for \(key), expected EC(P-256) or RSA(2048)")
    }
}
