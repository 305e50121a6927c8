/// Where the parts of a signature lie that has exactly the shape that Apple sends.
///
/// One shape, byte for byte, and no other: nothing is read that is not known, and nothing is judged here.
package struct AppleSignatureShape {
    /// Signing certificate, then intermediate.
    package let certificates: Range<Int>
    package let issuerAndSerialNumber: Range<Int>
    /// With their header.
    package let signedAttributes: Range<Int>
    package let signingTime: Range<Int>
    package let messageDigest: Range<Int>
    package let signature: Range<Int>

    /// - Returns: nil at the first byte that is not as Apple writes it.
    package init?(_ message: [UInt8], _ version: ApplePayToken.Version) {
        let shape = Shape.of(version)
        var reader = DERReader(message)
        guard reader.literal(Shape.beginning), var digests = reader.enter(0x31), Shape.skipSHA256(&digests),
            digests.isAtEnd, reader.literal(Shape.noContent)
        else { return nil }
        let start = reader.position
        guard reader.element(0x30) != nil, reader.element(0x30) != nil else { return nil }
        certificates = start..<reader.position
        guard reader.literal(Shape.end), var signers = reader.enter(0x31), reader.literal(Shape.endOfAll),
            reader.isAtEnd, var signer = signers.enter(0x30), signers.isAtEnd,
            signer.literal(Shape.one), let name = signer.contents(0x30), Shape.skipSHA256(&signer)
        else { return nil }
        issuerAndSerialNumber = name
        let attributesStart = signer.position
        guard var attributes = signer.enter(0xA0) else { return nil }
        signedAttributes = attributesStart..<signer.position
        guard signer.literal(shape.signatureAlgorithm), let signature = signer.contents(0x04), signer.isAtEnd else {
            return nil
        }
        self.signature = signature
        // In this order they are sorted, as the DER of a SET OF must be: each is longer than the one before.
        guard attributes.literal(Shape.contentType), attributes.literal(Shape.signingTime),
            let time = attributes.contents(0x17), time.count == 13
        else { return nil }
        signingTime = time
        _ = attributes.literal(shape.algorithmProtection)
        guard attributes.literal(Shape.messageDigest), let digest = attributes.contents(0x04), digest.count == 32,
            attributes.isAtEnd
        else { return nil }
        messageDigest = digest
    }
}

/// The bytes that every signature of a version has in common.
private struct Shape {
    let signatureAlgorithm: [UInt8]
    let algorithmProtection: [UInt8]

    static func of(_ version: ApplePayToken.Version) -> Shape {
        switch version {
        case .ecV1: ec
        case .rsaV1: rsa
        }
    }

    /// ContentInfo of signedData, version 1; `80` is an indefinite length.
    static let beginning = [0x30, 0x80, 0x06, 0x09] + OID.signedData + [0xA0, 0x80, 0x30, 0x80] + one
    static let one: [UInt8] = [0x02, 0x01, 0x01]
    /// EncapsulatedContentInfo of data without content, and the header of the certificates.
    static let noContent = [0x30, 0x80, 0x06, 0x09] + OID.data + end + [0xA0, 0x80]
    static let end: [UInt8] = [0, 0]
    static let endOfAll: [UInt8] = [0, 0, 0, 0, 0, 0]
    static let contentType =
        [0x30, 0x18, 0x06, 0x09] + OID.contentType + [0x31, 0x0B, 0x06, 0x09] + OID.data
    /// Up to the time's own header.
    static let signingTime = [0x30, 0x1C, 0x06, 0x09] + OID.signingTime + [0x31, 0x0F]
    /// Up to the digest's own header.
    static let messageDigest = [0x30, 0x2F, 0x06, 0x09] + OID.messageDigest + [0x31, 0x22]
    static let sha256 = [0x30, 0x0B, 0x06, 0x09] + OID.sha256
    /// Tokens of 2014 have it.
    static let sha256WithNull = [0x30, 0x0D, 0x06, 0x09] + OID.sha256 + [0x05, 0x00]

    static let ec = Shape(
        signatureAlgorithm: [0x30, 0x0A, 0x06, 0x08] + OID.ecdsaWithSHA256,
        algorithmProtection: [0x30, 0x28, 0x06, 0x09] + OID.algorithmProtection + [0x31, 0x1B, 0x30, 0x19]
            + sha256 + [0xA1, 0x0A, 0x06, 0x08] + OID.ecdsaWithSHA256)
    static let rsa = Shape(
        signatureAlgorithm: [0x30, 0x0D, 0x06, 0x09] + OID.sha256WithRSA + [0x05, 0x00],
        algorithmProtection: [0x30, 0x2B, 0x06, 0x09] + OID.algorithmProtection + [0x31, 0x1E, 0x30, 0x1C]
            + sha256 + [0xA1, 0x0D, 0x06, 0x09] + OID.sha256WithRSA + [0x05, 0x00])

    static func skipSHA256(_ reader: inout DERReader) -> Bool {
        reader.literal(sha256) || reader.literal(sha256WithNull)
    }
}
