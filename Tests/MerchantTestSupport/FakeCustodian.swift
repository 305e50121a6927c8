package import MerchantCore
package import Secrets
package import Vocabulary

/// A custodian without cryptography, for tests of its callers. Its keys are texts.
///
/// A private key is the text `KEY:<64 hex digits>`, or `LOCKED:<64 hex digits>` with the passphrase `open sesame`; a
/// certificate is `CERT:<the key's 64 hex digits>:<merchantIdentifier>`. A private key's file with its certificate is
/// `KEY:<64 hex digits>:<merchantIdentifier>`.
package struct FakeCustodian: KeyCustodian {
    /// An internal error, whose description must not reach a caller.
    package struct InternalFailure: Error, CustomStringConvertible {
        package let description = "internal state at 0xDEADBEEF"
    }

    /// Generating for this merchant fails with an ``InternalFailure``.
    package static let unlucky = "merchant.com.example.unlucky"

    private let clock: any WallClock

    package init(clock: any WallClock) { self.clock = clock }

    package func generateKeyPair(
        algorithm: KeyAlgorithm, purpose: KeyPurpose, for merchant: MerchantIdentifier
    ) throws -> NewKeyPair {
        guard merchant.rawValue != Self.unlucky else { throw InternalFailure() }
        let spki = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        return Self.new(PublicKeyHash(of: spki), algorithm, purpose)
    }

    package func importKeyPair(
        privateKey: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes, purpose: KeyPurpose,
        for merchant: MerchantIdentifier
    ) throws -> ImportedKeyPair {
        let parts = Self.parts(privateKey.withUnsafeBytes { Array($0) })
        guard (2...3).contains(parts.count), let hash = PublicKeyHash(anySpelling: parts[1]) else {
            throw MerchantError(.privateKeyMalformed, "not a private key")
        }
        guard parts[0] == "KEY" || passphrase.withUnsafeBytes({ Array($0) }) == Array("open sesame".utf8) else {
            throw MerchantError(.wrongPassphrase, "the passphrase does not open the private key")
        }
        return ImportedKeyPair(
            keyPair: Self.new(hash, .ecV1, purpose),
            certificate: parts.count == 3 ? Array("CERT:\(parts[1]):\(parts[2])".utf8) : nil)
    }

    package func certificate(
        inPrivateKeyFile file: borrowing SecretBytes, number: Int?, passphrase: borrowing SecretBytes
    ) throws -> [UInt8]? {
        let parts = Self.parts(file.withUnsafeBytes { Array($0) })
        return parts.count == 3 ? Array("CERT:\(parts[1]):\(parts[2])".utf8) : nil
    }

    package func readCertificate(_ upload: [UInt8]) throws -> CertificateFacts {
        let parts = Self.parts(upload)
        guard parts.first != "KEY" else {
            throw MerchantError(.privateKeyUploaded, "found a private key, expected a certificate")
        }
        guard parts.count == 3, parts[0] == "CERT", let hash = PublicKeyHash(anySpelling: parts[1]),
            let merchant = MerchantIdentifier(parts[2])
        else { throw MerchantError(.certificateMalformed, "found no certificate") }
        let day = Duration.seconds(86_400)
        return CertificateFacts(
            der: upload, fingerprint: PublicKeyHash(of: upload).bytes, publicKeyHash: hash, keyTypeName: "P-256",
            merchantIdentifierHash: MerchantIdentifierHash(of: merchant), hasKeyEncipherment: true,
            hasDigitalSignature: false, extendedKeyUsages: nil, isCertificateAuthority: false,
            notBefore: clock.now.adding(day * -1), notAfter: clock.now.adding(day * 700), serialNumber: "0A",
            subject: "CN=\(merchant)", issuer: "CN=Somebody")
    }

    package func fingerprint(ofClientCertificate upload: [UInt8]) throws -> Bits256 {
        PublicKeyHash(of: try readCertificate(upload).der).bits
    }

    package func issuerFinding(for certificate: CertificateFacts, at time: Timestamp) -> IssuerFinding {
        .notConfigured
    }

    package func symmetricKey(_ hash: PublicKeyHash, from material: SymmetricKeyMaterial) throws -> SecretBytes {
        throw MerchantError(.decryptionFailed, "this custodian decrypts nothing")
    }

    package func exportPrivateKey(_ hash: PublicKeyHash) throws -> SecretBytes {
        SecretBytes(copying: Array("KEY:\(hash.hex)".utf8))
    }

    private static func parts(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: ":").map(String.init)
    }

    private static func new(_ hash: PublicKeyHash, _ algorithm: KeyAlgorithm, _ purpose: KeyPurpose) -> NewKeyPair {
        NewKeyPair(
            publicKeyHash: hash, algorithm: algorithm, purpose: purpose, subjectPublicKeyInfo: hash.bytes,
            certificateSigningRequest: Array("CSR of \(hash.hex)".utf8),
            sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: hash.bytes))
    }
}
