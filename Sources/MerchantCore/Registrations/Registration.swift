package import Vocabulary

/// A merchant's registration at Apple: the desired state, and Apple's record as far as the daemon knows it.
package struct Registration: Hashable, Sendable {
    /// Apple's limit on the domains of one merchant, over all requests.
    package static let maximumDomains = RegistrationLimits.domains

    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    package var desired: DesiredRegistration
    /// The merchant of this daemon that the registration belongs to; nil if none was given.
    package var merchantIdentifier: MerchantIdentifier?
    /// Apple's record as last read or changed; nil while it is unknown.
    package var appleRecord: AppleRecord?
    package let createdAt: Timestamp
    /// When the desired state last changed.
    package var changedAt: Timestamp

    package init(
        partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier, desired: DesiredRegistration,
        merchantIdentifier: MerchantIdentifier?, appleRecord: AppleRecord?, createdAt: Timestamp, changedAt: Timestamp
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.desired = desired
        self.merchantIdentifier = merchantIdentifier
        self.appleRecord = appleRecord
        self.createdAt = createdAt
        self.changedAt = changedAt
    }

    /// Whether lists show the registration: at least one domain is desired, or registered at Apple.
    package var isShown: Bool { !desired.domainNames.isEmpty || !(appleRecord?.details?.domainNames ?? []).isEmpty }

    /// The differences between Apple's record and the desired state; empty if the record is unknown.
    package var drift: [RegistrationDrift] { appleRecord.map { RegistrationDrift.between(desired, $0) } ?? [] }

    /// Every domain that counts towards Apple's limit: desired, or registered at Apple.
    package var countedDomains: Set<String> {
        Set(desired.domainNames.map(\.rawValue)).union(appleRecord?.details?.domainNames ?? [])
    }
}

/// The desired state at Apple. If `domainNames` is empty, the merchant should not be registered.
package struct DesiredRegistration: Hashable, Sendable {
    package var partnerMerchantName: String
    package var domainNames: Set<DomainName>
    /// Apple encrypts the merchant's payment tokens to the certificate of this identifier.
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

/// Apple's record of a registration, as the daemon last read it, or as it is after a call that Apple confirmed.
package struct AppleRecord: Hashable, Sendable {
    package struct Details: Hashable, Sendable {
        package var partnerMerchantName: String
        /// SHA-256 of the `encryptTo` identifier, in Apple's spelling (hexadecimal).
        package var encryptToHash: String
        /// Each domain in the spelling of ``DomainName``; in Apple's spelling if that is not a valid domain name.
        package var domainNames: Set<String>

        package init(partnerMerchantName: String, encryptToHash: String, domainNames: Set<String>) {
            self.partnerMerchantName = partnerMerchantName
            self.encryptToHash = encryptToHash
            self.domainNames = domainNames
        }
    }

    /// nil: Apple has no record of the merchant.
    package var details: Details?
    /// When the daemon read the record, or Apple confirmed the call.
    package var learnedAt: Timestamp

    package init(details: Details?, learnedAt: Timestamp) {
        self.details = details
        self.learnedAt = learnedAt
    }
}

extension AppleRecord.Details {
    /// How many domains a record of Apple may have at most. This is far more than Apple allows.
    private static let maximumDomains = 10_000
    private static let longestText = 4096
    private static let longestDomainName = 1024

    /// Reads Apple's response to `getDetails`.
    ///
    /// - Throws: `gatewayFailed` if the response exceeds the limits.
    package init(_ details: GatewayDetails) throws(MerchantError) {
        guard details.partnerMerchantName.utf8.count <= Self.longestText,
            details.encryptTo.utf8.count <= Self.longestText, details.domainNames.count <= Self.maximumDomains,
            details.domainNames.allSatisfy({ (1...Self.longestDomainName).contains($0.utf8.count) })
        else {
            throw MerchantError(
                .gatewayFailed,
                "Apple's record is too large to store: it has \(details.domainNames.count.counted("domain")), or a text that is too long"
            )
        }
        self.init(
            partnerMerchantName: details.partnerMerchantName, encryptToHash: details.encryptTo,
            domainNames: Set(details.domainNames.map { DomainName(anySpelling: $0)?.rawValue ?? $0 }))
    }
}
