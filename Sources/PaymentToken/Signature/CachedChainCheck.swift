import Crypto

/// The fast check of a signature, for tokens that have exactly Apple's layout and whose certificate chain is in the cache.
///
/// It verifies one signature, where ``FullSignatureCheck`` parses a CMS message and three certificates and verifies three
/// signatures. It rejects nothing: for any token that it cannot accept, it records nothing and leaves the decision to
/// the full check. Tests verify that every token accepted here is accepted there with the same findings.
struct CachedChainCheck {
    let cache: ChainCache

    /// Records all checks except environment and signing time, as passed.
    ///
    /// - Returns: the details for the remaining checks; nil, with nothing recorded, if the token cannot be accepted.
    func run(_ token: ApplePayToken, _ builder: inout VerificationBuilder) -> SignerDetails? {
        guard let layout = AppleSignatureLayout(token.signature, token.version),
            let chain = cache.chain(of: Array(token.signature[layout.certificates])),
            chain.key.type == token.version.signingKeyType,
            chain.issuerAndSerialNumber.elementsEqual(token.signature[layout.issuerAndSerialNumber]),
            let time = ASN1Time(tag: ASN1Time.utcTimeTag, token.signature[layout.signingTime]),
            chain.validity.contains(time),
            Self.digest(token).elementsEqual(token.signature[layout.messageDigest])
        else { return nil }
        // RFC 5652 section 5.4: the signature covers the attributes as a SET OF; the message has the tag [0] instead.
        var attributes = Array(token.signature[layout.signedAttributes])
        attributes[0] = 0x31
        guard chain.key.isValid(signature: token.signature[layout.signature], over: attributes) else { return nil }
        builder.signingTime = time
        builder.pass(.structure, PassedFinding.structure)
        builder.pass(.messageDigest, PassedFinding.messageDigest)
        builder.pass(.signature, PassedFinding.signature)
        builder.pass(.markers, PassedFinding.markers)
        builder.pass(.certificateChain, PassedFinding.certificateChain)
        return SignerDetails(signingTime: time, commonNames: chain.signerCommonNames)
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
