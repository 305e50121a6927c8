package import Vocabulary

/// How often something occurred, such as the use of a key pair or a refused request, and when it occurred first and
/// last.
package struct Occurrences: Hashable, Sendable {
    package var count: Int
    package var first: Timestamp
    package var last: Timestamp

    package init(count: Int, first: Timestamp, last: Timestamp) {
        self.count = count
        self.first = first
        self.last = last
    }

    package mutating func add(_ other: Occurrences) {
        count += other.count
        first = min(first, other.first)
        last = max(last, other.last)
    }
}

/// The observed uses of a key pair.
package struct KeyUse: Hashable, Sendable {
    /// Requests that named the key pair's publicKeyHash. The hash is public, so such requests do not show that Apple
    /// uses the key.
    package var requests: Occurrences?
    /// Payment tokens, and metadata of merchant tokens, that were verified as of now and decrypted, including the check
    /// of the GCM tag.
    package var decryptions: Occurrences?
    /// When a decryption showed that Apple uses the promoted key pair: the first successful decryption since the
    /// promotion, or the one that caused the promotion. nil if there was no such decryption yet, or while the key pair
    /// is not `current`.
    package var promotionConfirmedAt: Timestamp?
    /// When an event last reported that the key pair was requested although it was revoked or destroyed.
    package var revokedUseReportedAt: Timestamp?
    /// When an event last reported that Apple encrypts to the `standby` key pair outside of a roll. nil if no event
    /// reported this, or while the key pair is not `standby`.
    package var standbyUseReportedAt: Timestamp?

    package init(
        requests: Occurrences? = nil, decryptions: Occurrences? = nil, promotionConfirmedAt: Timestamp? = nil,
        revokedUseReportedAt: Timestamp? = nil, standbyUseReportedAt: Timestamp? = nil
    ) {
        self.requests = requests
        self.decryptions = decryptions
        self.promotionConfirmedAt = promotionConfirmedAt
        self.revokedUseReportedAt = revokedUseReportedAt
        self.standbyUseReportedAt = standbyUseReportedAt
    }

    /// When the key pair was last requested. A decryption counts as a request.
    package var lastRequest: Timestamp? { [requests?.last, decryptions?.last].compactMap { $0 }.max() }

    /// The time of the first decryption since the key pair entered its present state; nil if there was none since then.
    /// If the stored first decryption is older than the state, returns the time of the last decryption instead.
    package func firstDecryption(inStateOf keyPair: KeyPair) -> Timestamp? {
        guard let decryptions, decryptions.last >= keyPair.stateSince else { return nil }
        return decryptions.first >= keyPair.stateSince ? decryptions.first : decryptions.last
    }

    /// Adds the requests and decryptions of the other use. Leaves the other properties unchanged.
    package mutating func add(_ other: KeyUse) {
        requests = Self.sum(requests, other.requests)
        decryptions = Self.sum(decryptions, other.decryptions)
    }

    /// Records the first successful decryption since the key pair was promoted. A decryption before the promotion does
    /// not count, because Apple may have switched to another key afterwards.
    ///
    /// - Parameter keyPair: the key pair as it is stored now.
    package mutating func confirmPromotion(of keyPair: KeyPair, by decryptions: Occurrences?) {
        guard promotionConfirmedAt == nil, keyPair.state == .current, let decryptions,
            decryptions.last >= keyPair.stateSince
        else { return }
        // Uses are collected for some seconds before they are stored, so the first of these decryptions can be older
        // than the promotion.
        promotionConfirmedAt = decryptions.first >= keyPair.stateSince ? decryptions.first : decryptions.last
    }

    private static func sum(_ left: Occurrences?, _ right: Occurrences?) -> Occurrences? {
        guard var sum = left, let right else { return left ?? right }
        sum.add(right)
        return sum
    }
}
