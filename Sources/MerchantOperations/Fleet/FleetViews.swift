package import MerchantCore
package import Vocabulary

/// The state of all merchants at a glance.
package struct FleetOverview: Sendable {
    /// A week that begins at the present time or a whole number of weeks later.
    package struct Week: Hashable, Sendable {
        package let begins: Timestamp
        /// The end of the week, which is not part of the week.
        package let ends: Timestamp
        /// The active key pairs whose certificate expires in the week.
        package let expiring: FleetExpiries
    }

    /// The findings, worst first, and the totals, as `GET /v1/status` has them.
    package let status: Status
    /// The active key pairs whose certificate has expired.
    package let expired: FleetExpiries
    /// The next ``FleetOperations/weeksAhead`` weeks.
    package let weeks: [Week]
    package let rolls: FleetRollCounts
}

/// Numbers of active key pairs whose certificate expires in some range of time.
package struct FleetExpiries: Hashable, Sendable {
    /// Key pairs in the state `current`, including identity key pairs.
    package let current: Int
    /// Key pairs in the states `standby` and `retiring`, including identity key pairs.
    package let notCurrent: Int

    package var total: Int { current + notCurrent }
}

/// The numbers of rolls.
package struct FleetRollCounts: Hashable, Sendable {
    /// All rolls by state, including ended rolls.
    package let byState: [RollState: Int]
    /// The open rolls by the party that must act.
    package let byParty: [RollParty: Int]
}

/// A list of limited length.
package struct FleetList<Item: Sendable>: Sendable {
    package let items: [Item]
    /// Whether there are more items than ``items`` has.
    package let hasMore: Bool

    /// - Parameter found: at most `limit` + 1 items. The last one beyond `limit` only shows that there are more.
    init(_ found: [Item], limit: Int) {
        items = Array(found.prefix(max(0, limit)))
        hasMore = found.count > items.count
    }
}

extension FleetList: Equatable where Item: Equatable {}

/// A merchant with fewer active key pairs than its target, and how severe that is now.
package struct FleetMerchantBelowTarget: Hashable, Sendable {
    package let merchant: MerchantBelowTarget
    package let severity: Severity
}

/// All that an operator's page shows about one merchant. The lists have the newest items first, except for the key
/// pairs and the registrations, which have the oldest first.
package struct FleetMerchant: Sendable {
    package let merchant: MerchantView
    package let progress: OnboardingProgress
    package let keys: [KeyView]
    package let rolls: FleetList<RollView>
    package let registrations: FleetList<RegistrationView>
    package let events: FleetList<StoredEvent>
    package let audit: FleetList<AuditRecord>
    package let invitations: FleetList<Invitation>
    /// When the data was read.
    package let at: Timestamp
}

/// What a search has found, at most ``FleetOperations/maximumHits`` hits.
package struct FleetSearchResult: Hashable, Sendable {
    package let hits: [FleetHit]
    /// Whether there are more hits, or the search stopped before it had read everything.
    package let hasMore: Bool
}

/// One result of a search.
package struct FleetHit: Hashable, Sendable {
    /// Where the text of the search was found.
    package enum Match: Hashable, Sendable {
        /// A part of the merchant's identifier.
        case identifier
        /// A part of the merchant's name.
        case name
        /// The beginning of the publicKeyHash of a key pair of the merchant.
        case key(PublicKeyHash, KeyState)
        /// A part of a domain of a registration.
        case domain(String, PartnerInternalMerchantIdentifier)
    }

    /// nil for a domain of a registration that belongs to no merchant of this daemon.
    package let merchantIdentifier: MerchantIdentifier?
    package let merchantName: String?
    package let match: Match
}
