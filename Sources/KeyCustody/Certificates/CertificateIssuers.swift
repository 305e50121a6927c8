import Crypto
package import MerchantCore
import SwiftASN1
import Vocabulary
import X509

/// The certificates of the setting `trust.certificate-issuers`: the CAs that issue merchants' certificates, and the
/// roots above them.
///
/// ``refusal(of:at:)`` accepts a certificate if these CAs form a chain from the certificate to one of these roots.
package struct CertificateIssuers: Hashable, Sendable {
    /// In bytes.
    private static let largestFile = 1024 * 1024

    /// The certificates of self-signed CAs: the trust anchors.
    let roots: [Certificate]
    /// The certificates of all other CAs. Such a CA can be a link of a chain, but a chain must end at a root.
    let intermediates: [Certificate]
    /// SHA-256 of each certificate in DER, as lower-case hexadecimal.
    private let fingerprints: Set<String>

    /// The fingerprint of the CA certificate with which Apple issues payment processing certificates: "Apple Worldwide
    /// Developer Relations CA - G2", valid until 2029-05-06. Apple publishes it at
    /// https://www.apple.com/certificateauthority/.
    package static let applePaymentProcessingIssuer =
        "9ed4b3b88c6a339cf1387895bda9ca6ea31a6b5ce9edf7511845923b0c8ac94c"

    /// Whether the certificate with the fingerprint ``applePaymentProcessingIssuer`` is one of the certificates.
    package var containsApplePaymentProcessingIssuer: Bool {
        fingerprints.contains(Self.applePaymentProcessingIssuer)
    }

    /// - Parameter files: the contents of the files that the setting names. Each file contains one or more certificates
    ///   in PEM, or one certificate in DER.
    /// - Throws: `certificateMalformed`, `tooLarge`, or `certificateWrongKind` for a certificate that does not belong
    ///   to a CA.
    package init(reading files: [[UInt8]]) throws(MerchantError) {
        var authorities: [Certificate] = []
        var fingerprints: Set<String> = []
        for file in files {
            for der in try Self.certificates(in: file) {
                guard let certificate = try? Certificate(derEncoded: der) else {
                    throw CertificateUpload.malformed(
                        "in trust.certificate-issuers is not a complete X.509 certificate")
                }
                guard Self.isAuthority(certificate) else {
                    throw MerchantError(
                        .certificateWrongKind,
                        "'\(certificate.subject)' in trust.certificate-issuers is not allowed to sign certificates: list only certificates of CAs"
                    )
                }
                authorities.append(certificate)
                fingerprints.insert(Hex.encode(Array(SHA256.hash(data: der))))
            }
        }
        guard !authorities.isEmpty else {
            throw MerchantError(
                .certificateMalformed,
                "the files of trust.certificate-issuers hold no certificate, expected at least one")
        }
        self.fingerprints = fingerprints
        roots = authorities.filter(\.isSelfSigned)
        intermediates = authorities.filter { !$0.isSelfSigned }
    }

    /// Returns the certificates of the CAs between a certificate and its root, the certificate's issuer first. A TLS
    /// client sends them with its own certificate.
    ///
    /// This method compares names and verifies signatures. It does not decide whether the certificate is trusted.
    ///
    /// - Parameter der: the certificate in DER. The returned certificates are in DER, too.
    func intermediates(above der: [UInt8]) -> [[UInt8]] {
        var path: [Certificate] = []
        var last = try? Certificate(derEncoded: der)
        while let certificate = last {
            // CAs that sign each other would otherwise make this loop endless.
            last = intermediates.first { $0.hasSigned(certificate) && !path.contains($0) }
            if let last { path.append(last) }
        }
        return path.compactMap { certificate in
            var serializer = DER.Serializer()
            guard (try? serializer.serialize(certificate)) != nil else { return nil }
            return serializer.serializedBytes
        }
    }

    private static func certificates(in file: [UInt8]) throws(MerchantError) -> [[UInt8]] {
        guard file.count <= largestFile else {
            throw MerchantError(
                .tooLarge,
                "a file of trust.certificate-issuers has \(file.count) bytes, expected at most \(largestFile)")
        }
        guard PEMText.isFound(in: file) else { return [file] }
        return try CertificateUpload.blocks(file).filter { $0.label == "CERTIFICATE" }.map(\.bytes)
    }

    /// Whether the certificate may sign certificates, by its basic constraints and key usage (RFC 5280 sections 4.2.1.9
    /// and 4.2.1.3). `RFC5280Policy` does not check the key usage of a CA.
    private static func isAuthority(_ certificate: Certificate) -> Bool {
        do {
            guard case .isCertificateAuthority? = try certificate.extensions.basicConstraints else { return false }
            // If the extension is absent, every use is allowed.
            return try certificate.extensions.keyUsage?.keyCertSign ?? true
        } catch {
            // What an unreadable extension allows is unknown.
            return false
        }
    }
}

extension Certificate {
    /// Whether the CA of this certificate has issued and signed `certificate`.
    func hasSigned(_ certificate: Certificate) -> Bool {
        subject == certificate.issuer && publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    /// Whether the certificate is a root. Equal names of subject and issuer are not enough: when a CA changes its key,
    /// it publishes a certificate with equal names that its other key signed.
    var isSelfSigned: Bool { hasSigned(self) }
}
