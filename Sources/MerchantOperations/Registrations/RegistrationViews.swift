package import MerchantCore
package import Vocabulary

/// A request to register a merchant. Each request for the same merchant adds its domains to the registration.
package struct RequestedRegistration: Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// nil keeps the name of the existing registration.
    package let partnerMerchantName: String?
    package let domainNames: [DomainName]
    /// nil keeps the value of the existing registration. For a new registration, nil stands for the platform
    /// integrator, if there is exactly one; on the portal, nil stands for the merchant itself, because the merchant
    /// uploads its own payment processing certificate there.
    package let encryptTo: MerchantIdentifier?
    /// nil keeps the value of the existing registration.
    package let merchantUrl: String?
    /// The merchant record to link the registration with; nil keeps the existing link.
    package let merchantIdentifier: MerchantIdentifier?

    package init(
        partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier, partnerMerchantName: String?,
        domainNames: [DomainName], encryptTo: MerchantIdentifier?, merchantUrl: String?,
        merchantIdentifier: MerchantIdentifier?
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.partnerMerchantName = partnerMerchantName
        self.domainNames = domainNames
        self.encryptTo = encryptTo
        self.merchantUrl = merchantUrl
        self.merchantIdentifier = merchantIdentifier
    }
}

/// A registration with its state at Apple and its open call.
package struct RegistrationView: Sendable {
    package enum Source: String, Sendable, CaseIterable {
        /// The daemon's own record of the registration.
        case mirror
        /// Apple's current record.
        case apple
    }

    package let registration: Registration
    /// Where the data comes from.
    package let source: Source
    /// The call to Apple whose outcome is unknown; nil if there is none.
    package let openCall: RegistrationCall?
    /// Reasons why the daemon cannot decrypt tokens of the registration, or why Apple does not use the key of the
    /// registration's merchant.
    package let warnings: [String]
    /// When this view was read.
    package let at: Timestamp
}

/// The result of unregistering domains or a merchant. A dry run returns the result that the operation would have.
package struct UnregistrationResult: Sendable {
    package let dryRun: Bool
    /// The domains that were removed.
    package let domainNames: [DomainName]
    package let warnings: [String]
    /// The registration after the operation; in a dry run, the unchanged registration.
    package let view: RegistrationView
}

/// The result of comparing one registration with Apple's record.
package struct SyncFinding: Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// The differences that the comparison found, before a repair.
    package let drift: [RegistrationDrift]
    /// Whether the repair removed all differences; nil if there were none, if no repair was requested, or if the
    /// comparison failed.
    package let repaired: Bool?
    /// The differences that are left: all of ``drift`` if no repair was requested, or if a call of the repair failed.
    package let remaining: [RegistrationDrift]
    /// Why the registration could not be compared or repaired.
    package let failure: MerchantError?

    /// Whether a report includes this finding.
    package var isReported: Bool { !drift.isEmpty || failure != nil }
}

/// The result of comparing one page of registrations with Apple's record.
package struct SyncReport: Sendable {
    /// Whether the caller requested a repair.
    package let repair: Bool
    /// The number of registrations that were compared.
    package let compared: Int
    /// The registrations that differ or could not be compared.
    package let findings: [SyncFinding]
    /// Why the comparison stopped early; nil if it compared the whole page.
    package let halted: MerchantError?
    /// The next page starts after this registration; nil if there is no further page.
    package let next: PartnerInternalMerchantIdentifier?
}
