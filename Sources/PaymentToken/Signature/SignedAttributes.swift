/// What the signer signed: the three attributes that must be there once each, and a fourth that must agree if it is.
struct SignedAttributes {
    let signingTime: ASN1Time
    let messageDigest: [UInt8]

    init(_ signer: CMSSigner) throws(SignatureExamination.Fault) {
        guard let contentType = signer.value(of: OID.contentType), contentType.tag == 0x06,
            contentType.bytes == OID.data
        else { throw .init(finding: "found no signed contentType of data, expected exactly one") }
        guard let digest = signer.value(of: OID.messageDigest), digest.tag == 0x04, digest.bytes.count == 32 else {
            throw .init(finding: "found no signed messageDigest of 32 bytes, expected exactly one")
        }
        guard let time = signer.value(of: OID.signingTime), let moment = ASN1Time(tag: time.tag, time.bytes) else {
            throw .init(finding: "found no signed signingTime in UTC to the second, expected exactly one")
        }
        signingTime = moment
        messageDigest = digest.bytes
        try Self.checkProtection(signer)
    }

    /// RFC 6211 section 3: the algorithms under the signature must be those outside. libcrypto 3.0 does not look.
    private static func checkProtection(_ signer: CMSSigner) throws(SignatureExamination.Fault) {
        guard signer.attributeTypes.contains(OID.algorithmProtection) else { return }
        let (digest, signature) = signer.algorithms
        guard let value = signer.value(of: OID.algorithmProtection),
            let protection = AlgorithmProtection(value.bytes), protection.digest == digest.oid,
            protection.signature == signature.oid
        else {
            throw .init(finding: "found a CMSAlgorithmProtection of other algorithms, expected those of the signer")
        }
    }
}
