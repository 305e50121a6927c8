package import Vocabulary

/// Something that an operator must know or act on. An event is stored in the same transaction as the change that caused
/// it, and delivered to webhooks afterwards.
package struct Event: Hashable, Sendable {
    package enum Kind: String, NamedValue {
        case certificateStored
        case keyPromoted
        /// The new key pair of a roll (the replacement of a key pair) has decrypted its first token, or the first token
        /// since its promotion: Apple has switched to this key pair.
        case switchObserved
        /// Apple encrypts to a standby key pair outside of a roll: see ``StandbyKeyUse``.
        case standbyKeyUsed
        case certificateExpiringSoon
        case certificateExpired
        /// A merchant has fewer active key pairs than its target number.
        case belowTarget
        /// A decryptor (a process that needs tokens decrypted) requested a key pair that is revoked or destroyed.
        case revokedKeyRequested
        case keyRevoked
        case rollStarted
        /// A roll has been waiting for a step of the merchant or of an admin for too long.
        case rollWaiting
        case rollFinished
        case rollAbandoned
        /// There is no verified backup that is as recent as the schedule of backups requires.
        case backupOverdue
        /// The number and hash of the last audit record, so that the receiver can keep a copy.
        case auditHead
        case merchantTokenUnlinked
        case merchantTokenMetadataUpdated
        case merchantTokenCardArtUpdated
        case merchantTokenPublicKeyUpdated
        /// An event of a merchant token whose type the daemon does not know.
        case merchantTokenEvent
        /// The event of a merchant token could not be fetched from Apple for 7 days.
        case merchantTokenEventLost
    }

    package typealias Severity = MerchantCore.Severity

    package let kind: Kind
    package let severity: Severity
    package var occurredAt: Timestamp
    /// The merchant concerned; nil if the event belongs to no merchant. Events of one merchant are delivered one after
    /// another, in the order of their sequences, except for parked events.
    package let merchantIdentifier: MerchantIdentifier?
    package let publicKeyHash: PublicKeyHash?
    package let rollId: String?
    /// What Apple reported about a merchant token; nil for other kinds of events.
    package let merchantToken: MerchantTokenReport?
    /// What happened and what to do: one sentence in lower case, without secrets.
    package let detail: String

    package init(
        _ kind: Kind, _ severity: Severity, at occurredAt: Timestamp, merchant: MerchantIdentifier? = nil,
        key: PublicKeyHash? = nil, rollId: String? = nil, merchantToken: MerchantTokenReport? = nil, detail: String
    ) {
        self.kind = kind
        self.severity = severity
        self.occurredAt = occurredAt
        merchantIdentifier = merchant
        publicKeyHash = key
        self.rollId = rollId
        self.merchantToken = merchantToken
        self.detail = detail
    }
}
