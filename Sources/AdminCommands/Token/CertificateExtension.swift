/// The names of the certificate extensions in the signatures of payment tokens.
enum CertificateExtension {
    /// The name of the extension with this object identifier; nil if this program does not know the extension.
    static func name(_ oid: String) -> String? { names[oid] }

    /// Sources: Apple's documents and certificates; RFC 5280 section 4.2.
    private static let names = [
        "1.2.840.113635.100.6.29": "Apple marker: signs payment tokens",
        "1.2.840.113635.100.6.2.14": "Apple marker: Application Integration CA",
        "1.2.840.113635.100.6.2.15": "Apple marker: Worldwide Developer Relations CA - G2",
        "1.2.840.113635.100.6.32": "Apple: hash of a merchant identifier",
        "2.5.29.14": "subject key identifier",
        "2.5.29.15": "key usage",
        "2.5.29.19": "basic constraints",
        "2.5.29.31": "revocation list distribution points",
        "2.5.29.32": "certificate policies",
        "2.5.29.35": "authority key identifier",
        "2.5.29.37": "extended key usage",
        "1.3.6.1.5.5.7.1.1": "authority information access",
    ]
}
