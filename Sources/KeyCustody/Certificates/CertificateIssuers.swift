package import MerchantCore
import SwiftASN1
import Vocabulary
import X509

/// The setting `trust.certificate-issuers`: issuing CAs and the roots above them.
///
/// A certificate is trusted when its signature chains through these, and only these, to one that issued itself.
package struct CertificateIssuers: Sendable {
    /// More than any hierarchy in use; ends the walk where CAs name each other in a ring.
    private static let longestChain = 8

    private static let largestFile = 1024 * 1024

    private let authorities: [Certificate]

    /// - Parameter files: contents of the files named by the setting: PEM with one or more certificates, or DER.
    /// - Throws: `certificateMalformed`, or `certificateWrongKind` for one that is no CA's.
    package init(reading files: [[UInt8]]) throws(MerchantError) {
        var authorities: [Certificate] = []
        for file in files {
            for der in try Self.certificates(in: file) {
                guard let certificate = try? Certificate(derEncoded: der) else {
                    throw CertificateUpload.malformed("of an issuing CA cannot be read as X.509")
                }
                guard Self.isAuthority(certificate) else {
                    throw MerchantError(
                        .certificateWrongKind,
                        "'\(certificate.subject)' may not sign certificates, expected a CA's certificate in trust.certificate-issuers"
                    )
                }
                authorities.append(certificate)
            }
        }
        guard !authorities.isEmpty else {
            throw MerchantError(
                .certificateMalformed, "trust.certificate-issuers holds no certificate, expected at least one")
        }
        self.authorities = authorities
    }

    func finding(for facts: CertificateFacts, at moment: Timestamp) -> IssuerFinding {
        guard let certificate = try? Certificate(derEncoded: facts.der) else {
            return .untrusted("the certificate cannot be read")
        }
        return climb(from: certificate, at: moment, steps: Self.longestChain)
    }

    /// Tries every CA of the issuer's name: a renewed CA keeps its name, and may keep its key.
    private func climb(from certificate: Certificate, at moment: Timestamp, steps: Int) -> IssuerFinding {
        let named = authorities.filter { $0.subject == certificate.issuer }
        guard !named.isEmpty else { return .untrusted("no CA of that name is listed ('\(certificate.issuer)')") }
        guard steps > 0 else { return .untrusted("the chain is longer than \(Self.longestChain) certificates") }
        let signers = named.filter { $0.publicKey.isValidSignature(certificate.signature, for: certificate) }
        guard !signers.isEmpty else {
            return .untrusted("the signature is not that of the listed CA '\(certificate.issuer)'")
        }
        let valid = signers.filter { Timestamp($0.notValidBefore) <= moment && moment <= Timestamp($0.notValidAfter) }
        guard !valid.isEmpty else {
            return .untrusted("the listed CA '\(certificate.issuer)' is outside its validity at \(moment)")
        }
        var finding = IssuerFinding.verified
        for signer in valid {
            // One that bears its own name as issuer is a root, trusted because it is listed.
            if signer.subject == signer.issuer { return .verified }
            finding = climb(from: signer, at: moment, steps: steps - 1)
            if finding == .verified { return finding }
        }
        return finding
    }

    /// The issuers of a certificate below their root, nearest first, in DER.
    func intermediates(above der: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var certificate = try? Certificate(derEncoded: der)
        while let current = certificate, found.count < Self.longestChain {
            certificate = authorities.first {
                $0.subject == current.issuer && $0.subject != $0.issuer
                    && $0.publicKey.isValidSignature(current.signature, for: current)
            }
            guard let next = certificate else { break }
            var serializer = DER.Serializer()
            guard (try? serializer.serialize(next)) != nil else { break }
            found.append(serializer.serializedBytes)
        }
        return found
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

    /// RFC 5280 sections 4.2.1.9 and 4.2.1.3.
    private static func isAuthority(_ certificate: Certificate) -> Bool {
        guard case .isCertificateAuthority? = try? certificate.extensions.basicConstraints else { return false }
        guard let usage = try? certificate.extensions.keyUsage else { return true }
        return usage.keyCertSign
    }
}
