import Crypto
import SwiftASN1
import Vocabulary
import X509

/// The CMS signature of a payment token, in the encoding that Apple's servers use.
///
/// The signature is SignedData version 1 (RFC 5652) in BER, with detached content. The outer sequences and the set of
/// certificates have indefinite lengths. The signing certificate comes first, although DER would sort the certificates.
/// Digest algorithms have no parameters. The signed attributes are contentType, signingTime, CMSAlgorithmProtection
/// (RFC 6211) and messageDigest.
///
/// libcrypto cannot write this encoding: it sorts the certificates and gives them a definite length.
struct DetachedSignature {
    let signer: CertifiedKey
    let issuer: Certificate
    let algorithm: KeyAlgorithm

    /// Returns the BER of the whole ContentInfo.
    ///
    /// - Parameter signingTime: a time from 1950 to 2049, the range of UTCTime.
    /// - Throws: ``SandboxError`` for any other time.
    func encoded(over content: [UInt8], signingTime: Timestamp) throws -> [UInt8] {
        let attributes = try attributes(digest: Array(SHA256.hash(data: content)), signingTime: signingTime)
        // The signature covers the attributes with the tag of a SET OF (31). In the message, the attributes have the
        // tag [0] (A0) instead (RFC 5652 section 5.4).
        let signature = try signer.privateKey.sign(
            bytes: TLV.setOf(TLV.set, attributes), signatureAlgorithm: signatureAlgorithm)
        let signerInfo = TLV.definite(
            TLV.sequence, Self.version1, try issuerAndSerialNumber, try Self.digestAlgorithm,
            TLV.setOf(TLV.context0, attributes), try TLV.definite(TLV.sequence, signatureIdentifier),
            TLV.definite(TLV.octetString, signature.rawRepresentation))
        return TLV.indefinite(
            TLV.sequence, try TLV.der(Self.signedData),
            TLV.indefinite(
                TLV.context0,
                TLV.indefinite(
                    TLV.sequence, Self.version1, TLV.definite(TLV.set, try Self.digestAlgorithm),
                    TLV.indefinite(TLV.sequence, try TLV.der(Self.data)),
                    TLV.indefinite(TLV.context0, try TLV.der(signer.certificate), try TLV.der(issuer)),
                    TLV.definite(TLV.set, signerInfo))))
    }

    private func attributes(digest: [UInt8], signingTime: Timestamp) throws -> [[UInt8]] {
        let protection = TLV.definite(
            TLV.sequence, try Self.digestAlgorithm, try TLV.definite(TLV.context1, signatureIdentifier))
        let contentType = try Self.attribute([1, 2, 840, 113549, 1, 9, 3], TLV.der(Self.data))
        let signedAt = try Self.attribute([1, 2, 840, 113549, 1, 9, 5], Self.utcTime(signingTime))
        let algorithmProtection = try Self.attribute([1, 2, 840, 113549, 1, 9, 52], protection)
        let messageDigest = try Self.attribute(
            [1, 2, 840, 113549, 1, 9, 4], TLV.definite(TLV.octetString, digest))
        return [contentType, signedAt, algorithmProtection, messageDigest]
    }

    private var issuerAndSerialNumber: [UInt8] {
        get throws {
            TLV.definite(
                TLV.sequence, try TLV.der(signer.certificate.issuer),
                TLV.definite(TLV.integer, Array(signer.certificate.serialNumber.bytes)))
        }
    }

    private var signatureAlgorithm: Certificate.SignatureAlgorithm {
        switch algorithm {
        case .ecV1: .ecdsaWithSHA256
        case .rsaV1: .sha256WithRSAEncryption
        }
    }

    /// The contents of the AlgorithmIdentifier of the signature algorithm: without parameters for ECDSA (RFC 5758
    /// section 3.2), with NULL as parameters for RSA (RFC 4055 section 5).
    private var signatureIdentifier: [UInt8] {
        get throws {
            switch algorithm {
            case .ecV1: try TLV.der([1, 2, 840, 10045, 4, 3, 2] as ASN1ObjectIdentifier)
            case .rsaV1: try TLV.der([1, 2, 840, 113549, 1, 1, 11] as ASN1ObjectIdentifier) + TLV.null
            }
        }
    }

    private static let version1 = TLV.definite(TLV.integer, [1])
    private static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]

    /// The AlgorithmIdentifier of SHA-256, without parameters.
    private static var digestAlgorithm: [UInt8] {
        get throws {
            TLV.definite(TLV.sequence, try TLV.der([2, 16, 840, 1, 101, 3, 4, 2, 1] as ASN1ObjectIdentifier))
        }
    }

    private static func attribute(_ type: ASN1ObjectIdentifier, _ value: [UInt8]) throws -> [UInt8] {
        TLV.definite(TLV.sequence, try TLV.der(type), TLV.definite(TLV.set, value))
    }

    /// Returns a time as `YYMMDDhhmmssZ`, made from the digits of its RFC 3339 form.
    private static func utcTime(_ time: Timestamp) throws(SandboxError) -> [UInt8] {
        let digits = time.rfc3339.filter(\.isNumber).prefix(14)
        guard let year = Int(digits.prefix(4)), (1950...2049).contains(year) else {
            throw SandboxError("the signing time is \(time), expected a time from 1950 to 2049")
        }
        return TLV.definite(TLV.utcTime, Array("\(digits.dropFirst(2))Z".utf8))
    }
}
