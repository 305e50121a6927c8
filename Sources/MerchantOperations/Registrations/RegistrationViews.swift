package import MerchantCore
package import Vocabulary

/// What a caller asks to have registered. Domains add up over several orders.
package struct RegistrationOrder: Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// nil: the name the registration has.
    package let partnerMerchantName: String?
    package let domainNames: [DomainName]
    /// nil: what the registration has, else the platform's integrator identifier if there is exactly one.
    package let encryptTo: MerchantIdentifier?
    /// nil: what the registration has.
    package let merchantUrl: String?
    /// nil: what the registration has.
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

/// A registration as it is shown.
package struct RegistrationView: Sendable {
    package enum Source: String, Sendable, CaseIterable {
        /// What is wanted, as the mirror has it.
        case mirror
        /// What Apple answered just now.
        case apple
    }

    package let registration: Registration
    package let source: Source
    /// The call to Apple whose outcome nobody knows yet.
    package let openCall: RegistrationCall?
    package let warnings: [String]
    package let at: Timestamp
}

/// What an unregistration removed, or as a dry run would.
package struct RegistrationWithdrawal: Sendable {
    package let dryRun: Bool
    package let domainNames: [DomainName]
    package let warnings: [String]
    package let view: RegistrationView
}

/// How one merchant's comparison with Apple ended.
package struct SyncFinding: Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    package let drift: [RegistrationDrift]
    /// nil: nothing was to be mended.
    package let mended: Bool?
    /// What is left after mending.
    package let remaining: [RegistrationDrift]
    /// Why it could not be compared or mended.
    package let failure: MerchantError?

    /// Whether anybody needs to know of it.
    package var isWorthTelling: Bool { !drift.isEmpty || failure != nil }
}

/// A stretch of the comparison of everything with Apple.
package struct SyncReport: Sendable {
    package let repair: Bool
    /// How many merchants were compared.
    package let compared: Int
    /// Those that differ, or could not be compared.
    package let findings: [SyncFinding]
    /// Why Apple was asked no further.
    package let halted: MerchantError?
    /// Where to go on; nil at the end.
    package let next: PartnerInternalMerchantIdentifier?
}
