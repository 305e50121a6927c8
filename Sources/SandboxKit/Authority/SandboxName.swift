import SwiftASN1
import Vocabulary
import X509

/// The distinguished names in the sandbox's certificates.
///
/// The names have the same attributes, order and string types as the names in Apple's certificates. The values show
/// that the certificates are not Apple's.
enum SandboxName {
    /// The attribute userId (RFC 4519 section 2.39), in which Apple's certificates have the merchant identifier.
    static let userIdentifier: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

    static func authority(_ commonName: String) throws -> DistinguishedName {
        try name(commonName: commonName, unit: "Sandbox Certification Authority")
    }

    static func tokenSigner(_ commonName: String) throws -> DistinguishedName {
        try name(commonName: commonName, unit: "iOS Systems")
    }

    /// Returns the subject of the certificate to whose key issuers encrypt card data.
    static func cardDataEncryption(_ commonName: String) throws -> DistinguishedName {
        try name(commonName: commonName, unit: "iOS Systems")
    }

    /// Returns the name of a web server. Clients compare host names with the subject alternative names only; the common
    /// name is for people.
    static func server(_ name: SandboxServerName) throws -> DistinguishedName {
        try SandboxName.name(commonName: String(name.text.prefix(64)), unit: "Sandbox servers")
    }

    /// Returns the subject of a merchant's certificate. Apple takes the subject from the developer account; here the
    /// account is fictitious.
    static func merchant(_ merchant: MerchantIdentifier, purpose: KeyPurpose) throws -> DistinguishedName {
        let title =
            switch purpose {
            case .paymentProcessing: "Apple Pay Payment Processing"
            case .identity: "Apple Pay Merchant Identity"
            }
        let userIdentifier = RelativeDistinguishedName.Attribute(
            type: Self.userIdentifier, utf8String: merchant.rawValue)
        let rest = try attributes(
            commonName: "\(title):\(merchant.rawValue)", unit: "SANDBOX001", organization: "Sandbox Merchant")
        return try DistinguishedName([userIdentifier] + rest)
    }

    private static func name(commonName: String, unit: String) throws -> DistinguishedName {
        try DistinguishedName(
            attributes(commonName: commonName, unit: unit, organization: "merchantkeyd sandbox (not Apple Inc.)"))
    }

    private static func attributes(
        commonName: String, unit: String, organization: String
    ) throws -> [RelativeDistinguishedName.Attribute] {
        [
            .init(type: .RDNAttributeType.commonName, utf8String: commonName),
            .init(type: .RDNAttributeType.organizationalUnitName, utf8String: unit),
            .init(type: .RDNAttributeType.organizationName, utf8String: organization),
            try .init(type: .RDNAttributeType.countryName, printableString: "US"),
        ]
    }
}
