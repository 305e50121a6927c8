package import Vocabulary

/// How often and when something was seen.
package struct ObservedUse: Hashable, Sendable {
    package var count: Int
    package var first: Timestamp
    package var last: Timestamp

    package init(count: Int, first: Timestamp, last: Timestamp) {
        self.count = count
        self.first = first
        self.last = last
    }

    package mutating func add(_ other: ObservedUse) {
        count += other.count
        first = min(first, other.first)
        last = max(last, other.last)
    }
}

/// What was seen of a key pair's use.
package struct KeyUse: Hashable, Sendable {
    /// Requests that named its publicKeyHash. The hash is public: they prove nothing.
    package var askedFor: ObservedUse?
    /// Tokens that verified, decrypted and passed their GCM tag.
    package var proven: ObservedUse?
    /// When an event last told that it was asked for though revoked.
    package var alarmedAt: Timestamp?

    package init(askedFor: ObservedUse? = nil, proven: ObservedUse? = nil, alarmedAt: Timestamp? = nil) {
        self.askedFor = askedFor
        self.proven = proven
        self.alarmedAt = alarmedAt
    }

    package var lastRequest: Timestamp? { [askedFor?.last, proven?.last].compactMap { $0 }.max() }

    package mutating func add(_ other: KeyUse) {
        askedFor = Self.sum(askedFor, other.askedFor)
        proven = Self.sum(proven, other.proven)
    }

    private static func sum(_ left: ObservedUse?, _ right: ObservedUse?) -> ObservedUse? {
        guard var sum = left, let right else { return left ?? right }
        sum.add(right)
        return sum
    }
}
