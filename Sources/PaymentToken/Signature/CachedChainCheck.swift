import Crypto

/// The fast check of a signature. It works for messages whose signature is encoded exactly as Apple encodes it and
/// whose certificate chain is in the cache.
///
/// The fast check verifies only one signature. ``FullSignatureCheck`` parses a CMS message and three certificates and
/// verifies three signatures.
///
/// The fast check never rejects a message. If it cannot accept a message, it records nothing, and the full check
/// decides. Tests verify that the full check accepts every message that the fast check accepts, with the same findings.
struct CachedChainCheck {
    let cache: ChainCache

    /// Makes all checks except two: the caller checks the environment and the signing time. Records the results in the
    /// builder if all of these checks pass.
    ///
    /// - Returns: the signer's details for the checks of the caller; nil, with nothing recorded, if a check does not
    ///   pass.
    func run(_ message: some AppleMessage, _ builder: inout VerificationBuilder) -> SignerDetails? {
        guard let layout = AppleSignatureLayout(message.signature, message.version),
            let chain = cache.chain(of: Array(message.signature[layout.certificates])),
            chain.key.type == message.version.signingKeyType,
            chain.issuerAndSerialNumber.elementsEqual(message.signature[layout.issuerAndSerialNumber]),
            let time = ASN1Time(tag: ASN1Time.utcTimeTag, message.signature[layout.signingTime]),
            chain.validity.contains(time),
            Self.digest(message).elementsEqual(message.signature[layout.messageDigest])
        else { return nil }
        // The signature covers the attributes with the tag of a SET OF (0x31). In the message, the attributes have the
        // tag [0] instead (RFC 5652 section 5.4).
        var attributes = Array(message.signature[layout.signedAttributes])
        attributes[0] = 0x31
        guard chain.key.isValid(signature: message.signature[layout.signature], over: attributes) else { return nil }
        builder.signingTime = time
        builder.pass(.structure, PassedFinding.structure)
        builder.pass(.messageDigest, PassedFinding.messageDigest)
        builder.pass(.signature, PassedFinding.signature)
        builder.pass(.markerExtensions, PassedFinding.markerExtensions)
        builder.pass(.certificateChain, PassedFinding.certificateChain)
        return SignerDetails(signingTime: time, commonNames: chain.signerCommonNames)
    }

    /// The digest of `message.signedContent`, computed without copying the parts of the content into one array.
    private static func digest(_ message: some AppleMessage) -> SHA256.Digest {
        var hash = SHA256()
        hash.update(data: message.keyMaterial.bytes)
        hash.update(data: message.data)
        for part in message.otherSignedParts { hash.update(data: part.bytes) }
        return hash.finalize()
    }
}
