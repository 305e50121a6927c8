/// The findings of checks that passed. The full check and the check with a cached chain use the same texts.
enum PassedFinding {
    static let structure = "one detached CMS message of one signer with SHA-256 and all required signed attributes"
    static let messageDigest = "the signed digest is the digest of this token's content"
    static let signature = "the key of the signing certificate made the signature over the signed attributes"
    static let markers = "the signing certificate and the intermediate have Apple's marker extensions"
    static let certificateChain =
        "the signing certificate, the intermediate and a trusted root form a chain that is valid at the signing time"
}
