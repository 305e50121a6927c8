package import Vocabulary

/// The replacement of a merchant's payment processing key pair by another, step by step.
///
/// A merchant has at most one open roll for each algorithm. The state of an open roll follows from its two key pairs
/// (``RollLifecycle``). This type contains only what the key pairs do not show.
package struct Roll: Hashable, Sendable {
    package enum Outcome: String, Sendable, CaseIterable {
        case finished, abandoned
    }

    /// The number of the roll: 1, 2, 3 … ``rollId`` is the same number as text.
    package let number: Int
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm
    /// The merchant's current key pair of the algorithm when the roll started; nil if there was none.
    package let from: PublicKeyHash?
    /// The new key pair.
    package let to: PublicKeyHash
    package let startedAt: Timestamp
    /// Since when the roll waits only for time to pass; nil while the roll waits for something else. This is the time
    /// of the last request for the old key pair, or of the last change of state of either key pair, whichever is later.
    package var idleSince: Timestamp?
    /// When the next reminder about the waiting roll is due; nil if there will be none.
    package var remindAt: Timestamp?
    package var outcome: Outcome?
    package var endedAt: Timestamp?
    /// The reason for the roll's end.
    package var reason: String?
    /// Whether the daemon has prepared the key pair for the next roll, after this roll finished. Also true if the
    /// daemon found that no key pair can be prepared.
    package var hasNextPair: Bool

    package init(
        number: Int, merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?,
        to: PublicKeyHash, startedAt: Timestamp, idleSince: Timestamp? = nil, remindAt: Timestamp? = nil,
        outcome: Outcome? = nil, endedAt: Timestamp? = nil, reason: String? = nil, hasNextPair: Bool = false
    ) {
        self.number = number
        self.merchantIdentifier = merchantIdentifier
        self.algorithm = algorithm
        self.from = from
        self.to = to
        self.startedAt = startedAt
        self.idleSince = idleSince
        self.remindAt = remindAt
        self.outcome = outcome
        self.endedAt = endedAt
        self.reason = reason
        self.hasNextPair = hasNextPair
    }

    package var rollId: String { String(number) }
    package var isOpen: Bool { outcome == nil }
}

/// The state of a roll: `started → certificateStored → promoted → quiet → finished`, or `abandoned`.
package enum RollState: String, NamedValue {
    /// The new key pair and its CSR exist. The daemon has no certificate for it yet.
    case started
    /// Decryptors can use the new key, but it is not `current`. The merchant must activate its certificate at Apple, or
    /// an admin must promote the key.
    case certificateStored
    /// The new key is `current`. Tokens that are encrypted to the old key may still arrive.
    case promoted
    /// The new key is in use, and no decryptor has requested the old key for the quiet period.
    case quiet
    /// The old key, if there was one, is revoked.
    case finished
    case abandoned
}

/// What a roll waits for: a party that must act, or only for time to pass.
package enum RollParty: String, Sendable, CaseIterable {
    /// The person who manages the merchant's Apple Developer account must have Apple sign the CSR, or must activate the
    /// certificate at Apple.
    case merchant
    /// The platform's admin must promote the new key, or finish the roll.
    case admin
    case apple = "Apple"
    /// No one: a waiting time must pass.
    case time
    /// The roll has ended.
    case none
}
