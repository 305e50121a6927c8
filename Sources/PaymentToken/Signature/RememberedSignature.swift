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
        guard let parts = AppleSignatureShape(token.signature, token.version),
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
