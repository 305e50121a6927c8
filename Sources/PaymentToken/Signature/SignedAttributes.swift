/// The attributes that the signature covers (RFC 5652 section 11). contentType, messageDigest and signingTime must be
/// present exactly once. CMSAlgorithmProtection is optional.
struct SignedAttributes {
    let signingTime: ASN1Time
    let messageDigest: [UInt8]

    init(_ signer: CMSSigner) throws(FullSignatureCheck.StructureFailure) {
        guard let contentType = signer.value(of: OID.contentType), contentType.tag == 0x06,
            contentType.bytes == OID.data
        else {
            throw .init(
                .invalidContentTypeAttribute,
                "the signed attributes do not contain exactly one contentType with the value data")
        }
        guard let digest = signer.value(of: OID.messageDigest), digest.tag == 0x04, digest.bytes.count == 32 else {
            throw .init(
                .invalidMessageDigestAttribute,
                "the signed attributes do not contain exactly one messageDigest of 32 bytes")
        }
        guard let value = signer.value(of: OID.signingTime), let time = ASN1Time(tag: value.tag, value.bytes) else {
            throw .init(
                .invalidSigningTimeAttribute,
                "the signed attributes do not contain exactly one signingTime in UTC with seconds and without fractions"
            )
        }
        signingTime = time
        messageDigest = digest.bytes
        try Self.checkAlgorithmProtection(signer)
    }

    /// Checks that the CMSAlgorithmProtection attribute names the same algorithms as the signer info (RFC 6211
    /// section 3). libcrypto 3.0 does not check this.
    private static func checkAlgorithmProtection(
        _ signer: CMSSigner
    ) throws(FullSignatureCheck.StructureFailure) {
        guard signer.attributeTypes.contains(OID.algorithmProtection) else { return }
        let (digest, signature) = signer.algorithms
        guard let value = signer.value(of: OID.algorithmProtection),
            let protection = AlgorithmProtection(value.bytes), protection.digest == digest.oid,
            protection.signature == signature.oid
        else {
            throw .init(
                .algorithmProtectionMismatch,
                "the signed attribute CMSAlgorithmProtection names other algorithms than the signer info, "
                    + "or cannot be read")
        }
    }
}
