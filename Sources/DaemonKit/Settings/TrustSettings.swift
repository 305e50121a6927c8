/// `trust`: the CAs to which payment tokens and the certificates of key pairs must chain.
package struct TrustSettings: Sendable, Hashable {
    /// PEM files; empty: Apple Root CA - G3, which is built in.
    package let tokenRoots: [String]
    /// PEM files; nil: the daemon does not verify issuers and stores certificates as `issuerVerified: false`.
    package let certificateIssuers: [String]?

    init(reading reader: SettingsReader) throws {
        tokenRoots =
            try reader.list(
                "trust.token-roots", .text, whenUnset: "Apple Root CA - G3, built in",
                "PEM files with the roots that payment tokens must chain to.") ?? []
        certificateIssuers = try reader.list(
            "trust.certificate-issuers", .text, whenUnset: "none; certificates are stored as issuerVerified: false",
            "PEM files with the CAs that issue the certificates of key pairs.")
    }
}
