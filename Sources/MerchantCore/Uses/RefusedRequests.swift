package import Vocabulary

/// One kind of refusal: who asked for what without the permit for it.
package struct Refusal: Hashable, Sendable {
    package let caller: Caller
    /// The permit that was missing; nil for a caller that has none at all.
    package let permit: Permit?
    /// Where the request named it.
    package let key: PublicKeyHash?
    /// Where the permit is for other merchants than this one.
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

/// Refused requests, counted by kind until they are recorded; however many there are, a few hundred kinds are held.
///
/// One user can neither crowd out what others did nor fill the audit: what goes beyond its share is counted as one.
package struct RefusedRequests: Sendable {
    /// The most kinds that are recorded separately, of one user and of all.
    package static let mostOfOneUser = 8
    package static let most = 64
    /// Users whose further refusals are counted by user.
    package static let mostUsers = 64

    /// What is known of some refusals.
    package enum Group: Hashable, Sendable {
        case kind(Refusal)
        /// Others of one user, by whichever process of its was first.
        case others(Caller)
        case othersOfAnybody
    }

    private var kinds: [Refusal: ObservedUse] = [:]
    private var kindsOfUser: [UInt32: Int] = [:]
    private var others: [UInt32: (caller: Caller, seen: ObservedUse)] = [:]
    private var rest: ObservedUse?

    package init() {}

    package mutating func add(_ refusal: Refusal, _ seen: ObservedUse) {
        let user = refusal.caller.uid
        if kinds[refusal] != nil {
            kinds[refusal]?.add(seen)
        } else if kinds.count < Self.most, kindsOfUser[user, default: 0] < Self.mostOfOneUser {
            kinds[refusal] = seen
            kindsOfUser[user, default: 0] += 1
        } else {
            addOther(refusal.caller, seen)
        }
    }

    /// Puts back what could not be recorded.
    package mutating func add(_ group: Group, _ seen: ObservedUse) {
        switch group {
        case .kind(let refusal): add(refusal, seen)
        case .others(let caller): addOther(caller, seen)
        case .othersOfAnybody: addToRest(seen)
        }
    }

    private mutating func addOther(_ caller: Caller, _ seen: ObservedUse) {
        if others[caller.uid] != nil {
            others[caller.uid]?.seen.add(seen)
        } else if others.count < Self.mostUsers {
            others[caller.uid] = (caller, seen)
        } else {
            addToRest(seen)
        }
    }

    private mutating func addToRest(_ seen: ObservedUse) {
        var all = rest ?? ObservedUse(count: 0, first: seen.first, last: seen.last)
        all.add(seen)
        rest = all
    }

    /// Those that were first, first.
    package var groups: [(group: Group, seen: ObservedUse)] {
        var all = kinds.map { (group: Group.kind($0.key), seen: $0.value) }
        all += others.values.map { (group: Group.others($0.caller), seen: $0.seen) }
        if let rest { all.append((.othersOfAnybody, rest)) }
        return all.sorted { $0.seen.first < $1.seen.first }
    }
}
