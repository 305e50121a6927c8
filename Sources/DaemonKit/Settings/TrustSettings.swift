/// `trust`: the CAs to which the signatures of payment tokens and the certificates of key pairs must chain.
package struct TrustSettings: Sendable, Hashable {
    /// PEM files; empty: Apple Root CA - G3, which is built in.
    package let tokenRoots: [String]
    /// PEM or DER files; nil: the daemon does not verify issuers and stores certificates as `issuerVerified: false`.
    package let certificateIssuers: [String]?

    init(reading reader: SettingsReader) {
        tokenRoots =
            reader.list(
                "trust.token-roots", .text, whenUnset: "Apple Root CA - G3, built in",
                "PEM files with root certificates. A payment token's signing certificate must chain to one of them.")
            ?? []
        certificateIssuers = reader.list(
            "trust.certificate-issuers", .text, whenUnset: "none: issuers are not checked",
            "PEM or DER files with CA certificates. An uploaded certificate must chain to a root through these CAs.")
    }
}
