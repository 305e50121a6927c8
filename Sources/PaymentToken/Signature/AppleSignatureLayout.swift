/// The positions of the variable parts in a signature that is encoded exactly as Apple encodes signatures. With these
/// positions, ``CachedChainCheck`` verifies a signature without parsing it as CMS.
///
/// The initializer compares all other bytes with constants, and returns nil for any other encoding. It verifies no
/// digest, signature or certificate.
///
/// Unless a property says otherwise, its range covers the contents of the element, without tag and length.
package struct AppleSignatureLayout {
    /// Two whole certificates. If the signature is genuine, these are the signing certificate and the intermediate.
    package let certificates: Range<Int>
    package let issuerAndSerialNumber: Range<Int>
    /// The signed attributes, including their tag and length.
    package let signedAttributes: Range<Int>
    package let signingTime: Range<Int>
    package let messageDigest: Range<Int>
    package let signature: Range<Int>

    /// - Returns: nil if the message is not in Apple's encoding.
    package init?(_ message: [UInt8], _ version: ApplePayToken.Version) {
        let constants = EncodingConstants.of(version)
        var reader = DERReader(message)
        guard reader.readLiteral(EncodingConstants.messageStart), var digestAlgorithms = reader.enter(0x31),
            EncodingConstants.skipSHA256Identifier(&digestAlgorithms), digestAlgorithms.isAtEnd,
            reader.readLiteral(EncodingConstants.noContentAndCertificatesStart)
        else { return nil }
        let certificatesStart = reader.position
        guard reader.readElement(0x30) != nil, reader.readElement(0x30) != nil else { return nil }
        certificates = certificatesStart..<reader.position
        guard reader.readLiteral(EncodingConstants.endOfContents), var signers = reader.enter(0x31),
            reader.readLiteral(EncodingConstants.messageEnd), reader.isAtEnd, var signer = signers.enter(0x30),
            signers.isAtEnd,
            signer.readLiteral(EncodingConstants.version1), let identifier = signer.readContents(0x30),
            EncodingConstants.skipSHA256Identifier(&signer)
        else { return nil }
        issuerAndSerialNumber = identifier
        let attributesStart = signer.position
        guard var attributes = signer.enter(0xA0) else { return nil }
        signedAttributes = attributesStart..<signer.position
        guard signer.readLiteral(constants.signatureAlgorithm), let signature = signer.readContents(0x04),
            signer.isAtEnd
        else {
            return nil
        }
        self.signature = signature
        // Apple sorts the attributes as DER requires for a SET OF: by their bytes. All attributes have the same tag, so
        // the length, which is the next byte, determines the order.
        guard attributes.readLiteral(EncodingConstants.contentType),
            attributes.readLiteral(EncodingConstants.signingTime),
            let time = attributes.readContents(0x17), time.count == 13
        else { return nil }
        signingTime = time
        // CMSAlgorithmProtection is optional, because tokens of 2014 do not have this attribute.
        _ = attributes.readLiteral(constants.algorithmProtection)
        guard attributes.readLiteral(EncodingConstants.messageDigest), let digest = attributes.readContents(0x04),
            digest.count == 32, attributes.isAtEnd
        else { return nil }
        messageDigest = digest
    }
}

/// The bytes that are the same in all signatures of a token version.
private struct EncodingConstants {
    let signatureAlgorithm: [UInt8]
    let algorithmProtection: [UInt8]

    static func of(_ version: ApplePayToken.Version) -> EncodingConstants {
        switch version {
        case .ecV1: ec
        case .rsaV1: rsa
        }
    }

    /// The start of a ContentInfo that contains signedData version 1. The length byte 0x80 means an indefinite length.
    static let messageStart = [0x30, 0x80, 0x06, 0x09] + OID.signedData + [0xA0, 0x80, 0x30, 0x80] + version1
    static let version1: [UInt8] = [0x02, 0x01, 0x01]
    /// An EncapsulatedContentInfo of type data without content, and then the tag and length of the certificates.
    static let noContentAndCertificatesStart = [0x30, 0x80, 0x06, 0x09] + OID.data + endOfContents + [0xA0, 0x80]
    /// The end-of-contents octets of one element of indefinite length.
    static let endOfContents: [UInt8] = [0, 0]
    /// The end-of-contents octets of the three outer elements.
    static let messageEnd = endOfContents + endOfContents + endOfContents
    static let contentType =
        [0x30, 0x18, 0x06, 0x09] + OID.contentType + [0x31, 0x0B, 0x06, 0x09] + OID.data
    /// The attribute up to, and without, the tag of its value.
    static let signingTime = [0x30, 0x1C, 0x06, 0x09] + OID.signingTime + [0x31, 0x0F]
    /// The attribute up to, and without, the tag of its value.
    static let messageDigest = [0x30, 0x2F, 0x06, 0x09] + OID.messageDigest + [0x31, 0x22]
    /// The algorithm identifier of SHA-256 without parameters.
    static let sha256 = [0x30, 0x0B, 0x06, 0x09] + OID.sha256
    /// The algorithm identifier of SHA-256 with NULL as parameters, as in tokens of 2014.
    static let sha256WithNull = [0x30, 0x0D, 0x06, 0x09] + OID.sha256 + [0x05, 0x00]

    static let ec = EncodingConstants(
        signatureAlgorithm: [0x30, 0x0A, 0x06, 0x08] + OID.ecdsaWithSHA256,
        algorithmProtection: [0x30, 0x28, 0x06, 0x09] + OID.algorithmProtection + [0x31, 0x1B, 0x30, 0x19]
            + sha256 + [0xA1, 0x0A, 0x06, 0x08] + OID.ecdsaWithSHA256)
    static let rsa = EncodingConstants(
        signatureAlgorithm: [0x30, 0x0D, 0x06, 0x09] + OID.sha256WithRSA + [0x05, 0x00],
        algorithmProtection: [0x30, 0x2B, 0x06, 0x09] + OID.algorithmProtection + [0x31, 0x1E, 0x30, 0x1C]
            + sha256 + [0xA1, 0x0D, 0x06, 0x09] + OID.sha256WithRSA + [0x05, 0x00])

    /// Reads the algorithm identifier of SHA-256; false if the next bytes are different.
    static func skipSHA256Identifier(_ reader: inout DERReader) -> Bool {
        reader.readLiteral(sha256) || reader.readLiteral(sha256WithNull)
    }
}
