/// The texts that report passed checks, for ``TokenVerification/Check/finding``. ``FullSignatureCheck`` and
/// ``CachedChainCheck`` use the same texts.
enum PassedFinding {
    static let structure =
        "the signature is one detached CMS message with one signer, SHA-256 and all required signed attributes"
    static let messageDigest = "the signed digest is the digest of the received content"
    static let signature =
        "the signature over the signed attributes verifies with the signing certificate's public key"
    static let markerExtensions = "the signing certificate and the intermediate have Apple's marker extensions"
    static let certificateChain =
        "the signing certificate, the intermediate and a trusted root form a chain that is valid at the signing time"
}
