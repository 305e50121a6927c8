import MerchantCore
package import MerchantOperations
package import Vocabulary

/// A registration as the pages show it.
package struct PageRegistration: Hashable, Sendable {
    package let partner: PartnerInternalMerchantIdentifier
    package let name: String
    package let encryptTo: MerchantIdentifier?
    package let domains: [PageDomain]
    /// When Apple's record was last read or changed; nil while Apple's record is unknown.
    package let learnedAt: Timestamp?
    /// Whether the outcome of a call to Apple about this registration is unknown.
    package let hasOpenCall: Bool
    package let warnings: [String]

    package init(
        partner: PartnerInternalMerchantIdentifier, name: String, encryptTo: MerchantIdentifier?,
        domains: [PageDomain], learnedAt: Timestamp?, hasOpenCall: Bool, warnings: [String]
    ) {
        self.partner = partner
        self.name = name
        self.encryptTo = encryptTo
        self.domains = domains
        self.learnedAt = learnedAt
        self.hasOpenCall = hasOpenCall
        self.warnings = warnings
    }

    package init(_ view: RegistrationView) {
        let registration = view.registration
        self.init(
            partner: registration.partnerInternalMerchantIdentifier, name: registration.desired.partnerMerchantName,
            encryptTo: registration.desired.encryptTo, domains: Self.domains(of: view),
            learnedAt: registration.appleRecord?.learnedAt, hasOpenCall: view.openCall != nil,
            warnings: view.warnings)
    }

    private static func domains(of view: RegistrationView) -> [PageDomain] {
        let desired = Set(view.registration.desired.domainNames.map(\.rawValue))
        let open = Set(view.openCall?.content.domainNames.map(\.rawValue) ?? [])
        let record = view.registration.appleRecord
        let atApple = record?.details?.domainNames ?? []
        return desired.union(open).union(atApple).sorted().map { name -> PageDomain in
            let state: PageDomain.State
            if open.contains(name) {
                state = .open
            } else if record == nil {
                state = .unconfirmed
            } else if desired.contains(name) {
                state = atApple.contains(name) ? .registered : .notRegistered
            } else {
                state = .unexpected
            }
            return PageDomain(name: name, state: state)
        }
    }
}

/// A domain of a registration.
package struct PageDomain: Hashable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        case registered
        /// The domain should be registered, but Apple's record does not have it.
        case notRegistered
        /// Apple's record has the domain, but it should not be registered.
        case unexpected
        /// The outcome of a call to Apple about this domain is unknown.
        case open
        /// Apple's record is unknown.
        case unconfirmed
    }

    /// The name. A name from Apple's record may not be a valid ``DomainName``.
    package let name: String
    package let state: State

    package init(name: String, state: State) {
        self.name = name
        self.state = state
    }
}
