package import Vocabulary

/// A kind of refused requests: their caller, the permit that the caller lacked, and what the requests named.
package struct RefusalKind: Hashable, Sendable {
    package let caller: Caller
    /// The missing permit; nil for a caller without any permit.
    package let permit: Permit?
    /// The key pair that the requests named, if they named one.
    package let key: PublicKeyHash?
    /// The merchant that the caller needed the permit for, if the requests concerned one merchant.
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

/// Refused requests, counted by kind until they are recorded in the audit. At most 64 kinds and 64 users are kept in
/// memory.
///
/// At most 8 kinds of one user are counted separately. The user's further refused requests are counted together, so
/// that no user can fill the audit.
package struct RefusedRequests: Sendable {
    /// At most this many kinds of one user are counted separately.
    package static let maximumKindsPerUser = 8
    /// At most this many kinds are counted separately, over all users.
    package static let maximumKinds = 64
    /// The further requests of each user are counted together, for at most this many users.
    package static let maximumUsers = 64

    /// Refused requests that are counted together, and get one audit record.
    package enum Group: Hashable, Sendable {
        case kind(RefusalKind)
        /// The requests of one user whose kinds are not counted separately, with the caller of the first such request.
        case others(Caller)
        /// The further requests of all users beyond ``maximumUsers``, counted together.
        case remainder
    }

    private var kinds: [RefusalKind: Occurrences] = [:]
    private var kindCountOfUser: [String: Int] = [:]
    private var others: [String: (caller: Caller, requests: Occurrences)] = [:]
    private var remainder: Occurrences?

    package init() {}

    package mutating func add(_ kind: RefusalKind, _ requests: Occurrences) {
        let user = kind.caller.name
        if kinds[kind] != nil {
            kinds[kind]?.add(requests)
        } else if kinds.count < Self.maximumKinds, kindCountOfUser[user, default: 0] < Self.maximumKindsPerUser {
            kinds[kind] = requests
            kindCountOfUser[user, default: 0] += 1
        } else {
            addOther(kind.caller, requests)
        }
    }

    /// Puts back a count that could not be recorded.
    package mutating func add(_ group: Group, _ requests: Occurrences) {
        switch group {
        case .kind(let kind): add(kind, requests)
        case .others(let caller): addOther(caller, requests)
        case .remainder: addToRemainder(requests)
        }
    }

    private mutating func addOther(_ caller: Caller, _ requests: Occurrences) {
        if others[caller.name] != nil {
            others[caller.name]?.requests.add(requests)
        } else if others.count < Self.maximumUsers {
            others[caller.name] = (caller, requests)
        } else {
            addToRemainder(requests)
        }
    }

    private mutating func addToRemainder(_ requests: Occurrences) {
        var all = remainder ?? Occurrences(count: 0, first: requests.first, last: requests.last)
        all.add(requests)
        remainder = all
    }

    /// The groups with their counts, sorted by the time of the first request.
    package var groups: [(group: Group, requests: Occurrences)] {
        var all = kinds.map { (group: Group.kind($0.key), requests: $0.value) }
        all += others.values.map { (group: Group.others($0.caller), requests: $0.requests) }
        if let remainder { all.append((.remainder, remainder)) }
        return all.sorted { $0.requests.first < $1.requests.first }
    }
}
