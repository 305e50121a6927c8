import MerchantCore
import Secrets
import Synchronization
import Vocabulary

/// A custodian whose keys are numbers and certificates text, so that five years take seconds and every run is the same.
///
/// A certificate is `CERT:<the key's 64 hex digits>:<merchantIdentifier>:<begins>:<ends>`, in milliseconds;
/// an identity certificate begins with `IDENTITY`.
final class NamedKeysCustodian: KeyCustodian {
    private let generatedCount = Atomic<Int>(0)

    func generateKeyPair(
        algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
    ) throws -> NewKeyPair {
        let number = generatedCount.add(1, ordering: .relaxed).newValue
        let hash = PublicKeyHash(of: Array("key \(number)".utf8))
        return NewKeyPair(
            publicKeyHash: hash, algorithm: algorithm, purpose: purpose, subjectPublicKeyInfo: hash.bytes,
            certificateSigningRequest: Array("CSR of \(hash.hex)".utf8),
            sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: hash.bytes))
    }

    static func certificate(
        _ hash: PublicKeyHash, of merchant: MerchantIdentifier, from begins: Timestamp, to ends: Timestamp,
        purpose: KeyPurpose = .paymentProcessing
    ) -> [UInt8] {
        let kind = purpose == .identity ? "IDENTITY" : "CERT"
        return Array(
            "\(kind):\(hash.hex):\(merchant):\(begins.millisecondsSince1970):\(ends.millisecondsSince1970)".utf8)
    }

    func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256 {
        PublicKeyHash(of: try readCertificate(upload).der).bits
    }

    func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts {
        let parts = String(decoding: upload, as: UTF8.self).split(separator: ":").map(String.init)
        guard parts.count == 5, let hash = PublicKeyHash(anySpelling: parts[1]),
            let merchant = MerchantIdentifier(parts[2]), let begins = Int64(parts[3]), let ends = Int64(parts[4])
        else { throw MerchantError(.certificateMalformed, "found no certificate") }
        return CertificateFacts(
            der: upload, fingerprint: PublicKeyHash(of: upload).bytes, publicKeyHash: hash, keyTypeName: "P-256",
            merchantIdentifierHash: MerchantIdentifierHash(of: merchant), hasKeyEncipherment: true,
            hasDigitalSignature: false, extendedKeyUsages: parts[0] == "IDENTITY" ? ["1.3.6.1.5.5.7.3.2"] : nil,
            isCertificateAuthority: false,
            notBefore: Timestamp(millisecondsSince1970: begins), notAfter: Timestamp(millisecondsSince1970: ends),
            serialNumber: "0A", subject: "CN=\(merchant)", issuer: "CN=Somebody")
    }

    func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) -> IssuerFinding { .notConfigured }

    func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> ImportedKeyPair {
        throw MerchantError(.privateKeyMalformed, "this custodian imports no private keys")
    }

    func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        throw MerchantError(.decryptionFailed, "this custodian decrypts nothing")
    }
    func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes { SecretBytes(copying: hash.bytes) }
}
