package import Vocabulary

/// One difference between Apple's record of a merchant and the desired state: what should be registered.
package enum RegistrationDrift: Hashable, Sendable {
    /// The domain is desired, but not registered at Apple.
    case missingDomain(DomainName)
    /// The domain is registered at Apple, but not desired.
    case extraDomain(String)
    /// Apple's record has another `partnerMerchantName`.
    case otherName(found: String, expected: String)
    /// Apple's record has another `encryptTo`. Both values are SHA-256 of an identifier, in upper-case hexadecimal
    /// digits.
    case otherEncryptTo(found: String, expected: String)
    /// Apple has no record of the merchant.
    case gone

    /// The kind of a difference, as JSON documents name it.
    package enum Kind: String, Sendable, CaseIterable {
        case missingDomain, extraDomain, otherName, otherEncryptTo, gone
    }

    package var kind: Kind {
        switch self {
        case .missingDomain: .missingDomain
        case .extraDomain: .extraDomain
        case .otherName: .otherName
        case .otherEncryptTo: .otherEncryptTo
        case .gone: .gone
        }
    }

    /// The differences in a stable order.
    package static func between(_ desired: DesiredRegistration, _ appleRecord: AppleRecord) -> [RegistrationDrift] {
        guard let details = appleRecord.details else { return desired.domainNames.isEmpty ? [] : [.gone] }
        let extra = details.domainNames.subtracting(desired.domainNames.map(\.rawValue)).sorted()
        // Without desired domains, the merchant must not be registered, and there is no name or encryptTo to compare
        // with.
        guard !desired.domainNames.isEmpty else { return extra.map(RegistrationDrift.extraDomain) }
        var drift = desired.domainNames.filter { !details.domainNames.contains($0.rawValue) }.sorted()
            .map(RegistrationDrift.missingDomain)
        drift += extra.map(RegistrationDrift.extraDomain)
        if details.partnerMerchantName != desired.partnerMerchantName {
            drift.append(.otherName(found: details.partnerMerchantName, expected: desired.partnerMerchantName))
        }
        let found = details.encryptToHash.uppercased()
        if found != desired.encryptTo.appleHash {
            drift.append(.otherEncryptTo(found: found, expected: desired.encryptTo.appleHash))
        }
        return drift
    }
}

extension MerchantIdentifier {
    /// The identifier's hash as Apple's `getDetails` spells it: SHA-256 in upper-case hexadecimal digits.
    package var appleHash: String { MerchantIdentifierHash(of: self).hex.uppercased() }
}
