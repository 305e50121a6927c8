import Crypto

/// The short way, for tokens of exactly the shape that Apple sends, by a signer whose chain is remembered: one signature
/// verified, in place of a message and three certificates parsed and three signatures verified.
///
/// It knows one shape, byte for byte, and no other: at the first byte that differs it gives up, saying nothing, and
/// ``SignatureExamination`` decides. So whatever passes here must pass there, and a test holds both to that.
struct RememberedSignature {
    let memory: ChainMemory

    /// Records every check of the signature but environment and time, all of them passed.
    ///
    /// - Returns: what those two are judged by; nil, with nothing recorded, for whatever is not known here or not right.
    func examine(_ token: ApplePayToken, _ list: inout Checklist) -> SignedFacts? {
        guard let parts = Parts(token.signature, token.version),
            let chain = memory.chain(of: Array(token.signature[parts.certificates])),
            chain.key.kind == token.version.signingKeyKind,
            chain.issuerAndSerialNumber.elementsEqual(token.signature[parts.issuerAndSerialNumber]),
            let time = ASN1Time(tag: ASN1Time.utcTimeTag, token.signature[parts.signingTime]),
            chain.validity.contains(time),
            Self.digest(token).elementsEqual(token.signature[parts.messageDigest])
        else { return nil }
        // RFC 5652 section 5.4: signed as a SET OF, though sent under the tag [0].
        var attributes = Array(token.signature[parts.signedAttributes])
        attributes[0] = 0x31
        guard chain.key.isValid(signature: token.signature[parts.signature], over: attributes) else { return nil }
        list.signingTime = time
        list.pass(.structure, Finding.structure)
        list.pass(.messageDigest, Finding.messageDigest)
        list.pass(.signature, Finding.signature)
        list.pass(.markers, Finding.markers)
        list.pass(.certificateChain, Finding.certificateChain)
        return SignedFacts(signingTime: time, leafCommonNames: chain.leafCommonNames)
    }

    private static func digest(_ token: ApplePayToken) -> SHA256.Digest {
        var hash = SHA256()
        hash.update(data: token.keyMaterial.bytes)
        hash.update(data: token.data)
        hash.update(data: token.transactionId.bytes)
        if let applicationData = token.applicationDataHash { hash.update(data: applicationData) }
        return hash.finalize()
    }
}

extension RememberedSignature {
    /// Where the parts of a signature lie that has Apple's shape.
    private struct Parts {
        /// Signing certificate, then intermediate.
        let certificates: Range<Int>
        let issuerAndSerialNumber: Range<Int>
        /// With their header.
        let signedAttributes: Range<Int>
        let signingTime: Range<Int>
        let messageDigest: Range<Int>
        let signature: Range<Int>

        init?(_ message: [UInt8], _ version: ApplePayToken.Version) {
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
}
