public import FoundationEssentials
import SwiftASN1
import X509

/// The two certificates that an app sends for in-app provisioning: the leaf, to whose key the card data is encrypted,
/// and the sub-CA that issued the leaf.
///
/// PassKit gives the certificates to the app (`PKAddPaymentPassRequest`, leaf first). Both orders are accepted. A value
/// of this type is parsed but not verified; ``verified(trust:at:)`` verifies it.
public struct ProvisioningCertificates: Sendable {
    let leaf: Certificate
    let subCA: Certificate
    /// Whether the sub-CA was given before the leaf.
    public let isSwapped: Bool

    /// Reads two certificates in DER.
    ///
    /// - Throws: ``CertificateFinding`` if there are not exactly two certificates, if both are the same, or if one is
    ///   not exactly one X.509 certificate in DER, or has an unsupported algorithm.
    public init(_ encoded: [Data]) throws(CertificateFinding) {
        guard encoded.count == 2 else { throw .wrongCertificateCount(encoded.count) }
        let first = try Self.parse(Array(encoded[0]), position: 1)
        let second = try Self.parse(Array(encoded[1]), position: 2)
        guard first != second else { throw .sameCertificateTwice }
        isSwapped = Self.isIssuer(first, of: second)
        leaf = isSwapped ? second : first
        subCA = isSwapped ? first : second
    }

    /// Reads two certificates in Base64 of DER.
    ///
    /// - Parameter encoded: standard Base64 (RFC 4648 section 4) with padding and without line breaks, applied once.
    /// - Throws: ``CertificateFinding`` as for ``init(_:)``, and `invalidBase64` or `base64Twice`.
    public init(base64 encoded: [String]) throws(CertificateFinding) {
        guard encoded.count == 2 else { throw .wrongCertificateCount(encoded.count) }
        var decoded: [Data] = []
        for (index, text) in encoded.enumerated() {
            decoded.append(try CertificateEncoding.decode(base64: text, position: index + 1))
        }
        do {
            try self.init(decoded)
        } catch .base64InsteadOfDER(let position) {
            throw .base64Twice(position: position)
        } catch {
            throw error
        }
    }

    /// The contents of the certificates that reports show.
    public var summary: CertificateSummary {
        CertificateSummary(leaf: .init(leaf), subCA: .init(subCA), isSwapped: isSwapped)
    }

    private static func parse(_ bytes: [UInt8], position: Int) throws(CertificateFinding) -> Certificate {
        do {
            return try Certificate(derEncoded: bytes)
        } catch let error as CertificateError {
            switch error.code {
            case .unsupportedPublicKeyAlgorithm, .unsupportedSignatureAlgorithm:
                throw .unsupportedAlgorithm(position: position)
            default: throw .malformedCertificate(position: position)
            }
        } catch {
            throw CertificateEncoding.fault(of: bytes, position: position)
        }
    }

    /// Whether `first` is the sub-CA and `second` is the leaf.
    ///
    /// Compares the subject and issuer names first. If they do not show which certificate is the leaf, uses Apple's
    /// marker extension of the leaf, and then the basic constraints. The result only assigns the two roles; the
    /// certificates are checked later.
    private static func isIssuer(_ first: Certificate, of second: Certificate) -> Bool {
        let firstIssuedSecond = first.subject == second.issuer
        let secondIssuedFirst = second.subject == first.issuer
        if firstIssuedSecond != secondIssuedFirst { return firstIssuedSecond }
        let (firstIsMarked, secondIsMarked) = (isMarked(first), isMarked(second))
        if firstIsMarked != secondIsMarked { return secondIsMarked }
        return isAuthority(first) && !isAuthority(second)
    }

    private static func isMarked(_ certificate: Certificate) -> Bool {
        certificate.extensions[oid: ProvisioningExtension.marker] != nil
    }

    private static func isAuthority(_ certificate: Certificate) -> Bool {
        guard let constraints = try? certificate.extensions.basicConstraints else { return false }
        if case .isCertificateAuthority = constraints { return true }
        return false
    }
}
