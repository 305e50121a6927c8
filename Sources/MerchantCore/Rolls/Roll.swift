package import Vocabulary

/// The replacement of a merchant's payment processing key pair by another, step by step.
///
/// At most one is open per merchant and algorithm. Where an open one stands follows from its two key pairs
/// (``RollLifecycle``); kept here is only what they cannot tell.
package struct Roll: Hashable, Sendable {
    package enum Outcome: String, Sendable, CaseIterable {
        case finished, abandoned
    }

    /// 1, 2, 3 …; its text is the `rollId`.
    package let number: Int
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm
    /// The key pair that Apple used at the start; nil for a merchant's first one.
    package let from: PublicKeyHash?
    package let to: PublicKeyHash
    package let startedAt: Timestamp
    /// Since when nobody asked for the old key pair; nil while more than time is missing before the roll can be quiet.
    package var idleSince: Timestamp?
    /// When whoever it waits for is to be reminded next; nil where nobody is.
    package var remindAt: Timestamp?
    package var outcome: Outcome?
    package var endedAt: Timestamp?
    /// Why it ended.
    package var reason: String?
    /// Whether the pair to roll to next was prepared; only a finished roll asks for one.
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

/// Where a roll stands: `started → certificateStored → promoted → quiet → finished`, or `abandoned`.
package enum RollState: String, Sendable, CaseIterable {
    /// Key pair and CSR are there; Apple has yet to sign.
    case started
    /// The new key resolves; Apple has yet to be told to use it.
    case certificateStored
    /// Apple encrypts to the new key; tokens of the old one may still arrive.
    case promoted
    /// The new key is in use and nobody has asked for the old one for the quiet period.
    case quiet
    /// The old key is revoked.
    case finished
    case abandoned
}

/// Who has to act before a roll moves on.
package enum RollParty: String, Sendable, CaseIterable {
    case merchant, admin
    case apple = "Apple"
    case time, nobody
}
