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
                "PEM files with the roots that the certificate that signed a payment token must chain to.") ?? []
        certificateIssuers = try reader.list(
            "trust.certificate-issuers", .text, whenUnset: "none: issuers are not checked",
            "PEM or DER files with the CAs through which an uploaded certificate must chain to a root.")
    }
}
