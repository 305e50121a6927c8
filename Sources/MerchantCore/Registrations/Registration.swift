package import Vocabulary

/// A merchant's registration at Apple: the desired state, and Apple's state as last read.
package struct Registration: Hashable, Sendable {
    /// Apple's bound on the domains of one merchant, over all requests.
    package static let mostDomains = 99

    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    package var desired: DesiredRegistration
    /// The merchant record it belongs to, if the platform keeps one.
    package var merchantIdentifier: MerchantIdentifier?
    /// nil while it was never learned.
    package var known: KnownRegistration?
    package let createdAt: Timestamp
    /// When the desired state last changed.
    package var changedAt: Timestamp

    package init(
        partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier, desired: DesiredRegistration,
        merchantIdentifier: MerchantIdentifier?, known: KnownRegistration?, createdAt: Timestamp, changedAt: Timestamp
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.desired = desired
        self.merchantIdentifier = merchantIdentifier
        self.known = known
        self.createdAt = createdAt
        self.changedAt = changedAt
    }

    /// Whether there is anything to show: a domain that is wanted, or one that Apple has.
    package var isShown: Bool { !desired.domainNames.isEmpty || !(known?.details?.domainNames ?? []).isEmpty }

    /// The differences of Apple's record from the desired state; empty if the record was never read.
    package var drift: [RegistrationDrift] { known.map { RegistrationDrift.between(desired, $0) } ?? [] }

    /// Every domain that counts towards Apple's bound.
    package var countedDomains: Set<String> {
        Set(desired.domainNames.map(\.rawValue)).union(known?.details?.domainNames ?? [])
    }
}

/// What the platform wants registered. Without domains: nothing.
package struct DesiredRegistration: Hashable, Sendable {
    package var partnerMerchantName: String
    package var domainNames: Set<DomainName>
    package var encryptTo: MerchantIdentifier
    package var merchantUrl: String?

    package init(
        partnerMerchantName: String, domainNames: Set<DomainName>, encryptTo: MerchantIdentifier, merchantUrl: String?
    ) {
        self.partnerMerchantName = partnerMerchantName
        self.domainNames = domainNames
        self.encryptTo = encryptTo
        self.merchantUrl = merchantUrl
    }
}

/// What Apple has, and since when that is known.
package struct KnownRegistration: Hashable, Sendable {
    package struct Details: Hashable, Sendable {
        package var partnerMerchantName: String
        /// SHA-256 of the identifier, as Apple spells it.
        package var encryptToHash: String
        /// In the form of ``DomainName`` where they have one, else as Apple spells them.
        package var domainNames: Set<String>

        package init(partnerMerchantName: String, encryptToHash: String, domainNames: Set<String>) {
            self.partnerMerchantName = partnerMerchantName
            self.encryptToHash = encryptToHash
            self.domainNames = domainNames
        }
    }

    /// nil: Apple knows no such merchant.
    package var details: Details?
    package var learnedAt: Timestamp

    package init(details: Details?, learnedAt: Timestamp) {
        self.details = details
        self.learnedAt = learnedAt
    }
}

extension KnownRegistration.Details {
    /// The most that an answer of Apple's may hold to be taken for one: far above what Apple allows.
    private static let mostDomains = 10_000
    private static let longestText = 4096
    private static let longestName = 1024

    /// Apple's answer to `getDetails`.
    ///
    /// - Throws: `gatewayFailed` for one that cannot be meant.
    package init(_ details: GatewayDetails) throws(MerchantError) {
        guard details.partnerMerchantName.utf8.count <= Self.longestText,
            details.encryptTo.utf8.count <= Self.longestText, details.domainNames.count <= Self.mostDomains,
            details.domainNames.allSatisfy({ (1...Self.longestName).contains($0.utf8.count) })
        else {
            throw MerchantError(
                .gatewayFailed,
                "Apple's answer holds \(details.domainNames.count) domains and texts of a length that no registration has"
            )
        }
        self.init(
            partnerMerchantName: details.partnerMerchantName, encryptToHash: details.encryptTo,
            domainNames: Set(details.domainNames.map { DomainName(anySpelling: $0)?.rawValue ?? $0 }))
    }
}
