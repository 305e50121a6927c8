package import Vocabulary

/// A kind of refused request: its caller, the permit that the caller lacked, and what the request named.
package struct Refusal: Hashable, Sendable {
    package let caller: Caller
    /// The missing permit; nil for a caller without any permit.
    package let permit: Permit?
    /// The key pair that the request named, if it named one.
    package let key: PublicKeyHash?
    /// The merchant that the caller needed the permit for, if the request concerned one merchant.
    package let merchant: MerchantIdentifier?

    package init(
        by caller: Caller, permit: Permit?, key: PublicKeyHash? = nil, merchant: MerchantIdentifier? = nil
    ) {
        self.caller = caller
        self.permit = permit
        self.key = key
        self.merchant = merchant
    }
}

/// Refused requests, counted by kind until they are recorded. At most 64 kinds and 64 users are kept in memory.
///
/// Each user has a share of the kinds. Further refusals of the same user are counted together, so that no user can fill
/// the audit.
package struct RefusedRequests: Sendable {
    /// At most this many kinds of one user are recorded separately.
    package static let maximumKindsPerUser = 8
    /// At most this many kinds are recorded separately, over all users.
    package static let maximumKinds = 64
    /// Refusals beyond the separate kinds are counted for each user, but for at most this many users.
    package static let maximumUsers = 64

    /// Refusals that are counted and recorded together.
    package enum Group: Hashable, Sendable {
        case kind(Refusal)
        /// Refusals of one user beyond the separate kinds. The caller is the process that was refused first.
        case others(Caller)
        /// The remaining refusals, of any user: more users than ``maximumUsers`` were refused.
        case remainder
    }

    private var kinds: [Refusal: ObservedUse] = [:]
    private var kindsOfUser: [UInt32: Int] = [:]
    private var others: [UInt32: (caller: Caller, seen: ObservedUse)] = [:]
    private var remainder: ObservedUse?

    package init() {}

    package mutating func add(_ refusal: Refusal, _ seen: ObservedUse) {
        let user = refusal.caller.uid
        if kinds[refusal] != nil {
            kinds[refusal]?.add(seen)
        } else if kinds.count < Self.maximumKinds, kindsOfUser[user, default: 0] < Self.maximumKindsPerUser {
            kinds[refusal] = seen
            kindsOfUser[user, default: 0] += 1
        } else {
            addOther(refusal.caller, seen)
        }
    }

    /// Puts back a count that could not be recorded.
    package mutating func add(_ group: Group, _ seen: ObservedUse) {
        switch group {
        case .kind(let refusal): add(refusal, seen)
        case .others(let caller): addOther(caller, seen)
        case .remainder: addToRemainder(seen)
        }
    }

    private mutating func addOther(_ caller: Caller, _ seen: ObservedUse) {
        if others[caller.uid] != nil {
            others[caller.uid]?.seen.add(seen)
        } else if others.count < Self.maximumUsers {
            others[caller.uid] = (caller, seen)
        } else {
            addToRemainder(seen)
        }
    }

    private mutating func addToRemainder(_ seen: ObservedUse) {
        var all = remainder ?? ObservedUse(count: 0, first: seen.first, last: seen.last)
        all.add(seen)
        remainder = all
    }

    /// The counts, sorted by the time of their first refusal.
    package var groups: [(group: Group, seen: ObservedUse)] {
        var all = kinds.map { (group: Group.kind($0.key), seen: $0.value) }
        all += others.values.map { (group: Group.others($0.caller), seen: $0.seen) }
        if let remainder { all.append((.remainder, remainder)) }
        return all.sorted { $0.seen.first < $1.seen.first }
    }
}
