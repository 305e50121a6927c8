import MerchantCore
import Vocabulary

/// The merchants whose notifications are skipped for a while, because no identity certificate can authenticate calls
/// for these merchants.
struct IdentityPauses {
    private struct Pause {
        /// Whose identity is missing.
        let owner: IdentityOwner
        let end: ContinuousClock.Instant
    }

    private var pauses: [MerchantIdentifier: Pause] = [:]

    var merchants: Set<MerchantIdentifier> { Set(pauses.keys) }
    var count: Int { pauses.count }
    var isEmpty: Bool { pauses.isEmpty }

    mutating func add(_ merchant: MerchantIdentifier, without owner: IdentityOwner, until end: ContinuousClock.Instant)
    {
        pauses[merchant] = Pause(owner: owner, end: end)
    }

    mutating func removeExpired(at now: ContinuousClock.Instant) { pauses = pauses.filter { $0.value.end > now } }

    mutating func removeAll() { pauses = [:] }

    /// Ends the pauses of the merchants that may have an identity now.
    ///
    /// - Parameter owners: the merchants and platform integrators whose identity keys have changed.
    mutating func identitiesChanged(of owners: Set<MerchantIdentifier>) {
        let platformChanged = owners.contains(where: \.isPlatformIntegrator)
        pauses = pauses.filter { merchant, pause in
            // A merchant that has used the platform's identity may have an identity of its own now.
            !owners.contains(merchant) && !(platformChanged && pause.owner == .platform)
        }
    }
}
