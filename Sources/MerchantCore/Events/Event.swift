package import Vocabulary

/// Something that an operator must know or act on. An event is stored in the same transaction as the change that caused
/// it, and delivered to webhooks afterwards.
package struct Event: Hashable, Sendable {
    package enum Kind: String, NamedValue {
        case certificateStored
        case keyPromoted
        /// The first successful decryption with the new key pair of a roll: Apple has switched to this key pair.
        case switchObserved
        case certificateExpiringSoon
        case certificateExpired
        /// A merchant has fewer active key pairs than its target.
        case belowTarget
        /// A decryptor asked for a key pair that was revoked.
        case revokedKeyRequested
        case keyRevoked
        case rollStarted
        /// A roll has been waiting for a merchant or an admin for too long.
        case rollWaiting
        case rollFinished
        case rollAbandoned
        /// The last good backup is older than it should be.
        case backupOverdue
        /// The head of the audit chain, for a copy on another machine.
        case auditHead
    }

    package typealias Severity = MerchantCore.Severity

    package let kind: Kind
    package let severity: Severity
    package var occurredAt: Timestamp
    /// The merchant concerned. Events of one merchant are delivered one after another, in the order of their sequences.
    package let merchantIdentifier: MerchantIdentifier?
    package let publicKeyHash: PublicKeyHash?
    package let rollId: String?
    /// What happened and what to do: one sentence in lower case, without secrets.
    package let detail: String

    package init(
        _ kind: Kind, _ severity: Severity, at occurredAt: Timestamp, merchant: MerchantIdentifier? = nil,
        key: PublicKeyHash? = nil, rollId: String? = nil, detail: String
    ) {
        self.kind = kind
        self.severity = severity
        self.occurredAt = occurredAt
        merchantIdentifier = merchant
        publicKeyHash = key
        self.rollId = rollId
        self.detail = detail
    }
}
