package import MerchantCore
package import Vocabulary

/// A request to register a merchant. The domains of several orders add up.
package struct RegistrationOrder: Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// nil: the registration's present name.
    package let partnerMerchantName: String?
    package let domainNames: [DomainName]
    /// nil: the registration's present value, else the platform's integrator identifier if there is exactly one.
    package let encryptTo: MerchantIdentifier?
    /// nil: the registration's present value.
    package let merchantUrl: String?
    /// nil: the registration's present value.
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
        /// The stored registration, with the desired state.
        case mirror
        /// Apple's current record.
        case apple
    }

    package let registration: Registration
    package let source: Source
    /// The call to Apple whose outcome is unknown.
    package let openCall: RegistrationCall?
    package let warnings: [String]
    package let at: Timestamp
}

/// The result of an unregistration; of a dry run, the result that it would have.
package struct RegistrationWithdrawal: Sendable {
    package let dryRun: Bool
    package let domainNames: [DomainName]
    package let warnings: [String]
    package let view: RegistrationView
}

/// The result of comparing one registration with Apple's record.
package struct SyncFinding: Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    package let drift: [RegistrationDrift]
    /// nil if nothing had to be repaired, or repair was not requested.
    package let repaired: Bool?
    /// The differences that are left after the repair.
    package let remaining: [RegistrationDrift]
    /// The reason why it could not be compared or repaired.
    package let failure: MerchantError?

    /// Whether the report includes it.
    package var isReported: Bool { !drift.isEmpty || failure != nil }
}

/// The result of comparing one page of registrations with Apple's record.
package struct SyncReport: Sendable {
    package let repair: Bool
    /// The number of registrations that were compared.
    package let compared: Int
    /// The registrations that differ or could not be compared.
    package let findings: [SyncFinding]
    /// The reason why the comparison stopped early.
    package let halted: MerchantError?
    /// Where the next page starts; nil at the end.
    package let next: PartnerInternalMerchantIdentifier?
}
