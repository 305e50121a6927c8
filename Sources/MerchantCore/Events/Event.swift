package import Vocabulary

/// Something an operator must know of or act on: stored with the change that led to it, listed, and delivered.
package struct Event: Hashable, Sendable {
    package enum Kind: String, NamedValue {
        case certificateStored
        case keyPromoted
        /// The first successful decryption with a key pair that Apple should switch to.
        case switchObserved
        case certificateExpiringSoon
        case certificateExpired
        case belowTarget
        /// A decryptor asked for a key pair that was revoked.
        case revokedKeyRequested
        case keyRevoked
        case rollStarted
        /// A roll waits for somebody longer than it should.
        case rollWaiting
        case rollFinished
        case rollAbandoned
        /// The last good backup is older than it should be.
        case backupOverdue
        /// Where the audit's chain ends, to be kept off the machine.
        case auditHead
    }

    package typealias Severity = MerchantCore.Severity

    package let kind: Kind
    package let severity: Severity
    package var occurredAt: Timestamp
    /// Whose it is; events are delivered in order for each merchant.
    package let merchantIdentifier: MerchantIdentifier?
    package let publicKeyHash: PublicKeyHash?
    package let rollId: String?
    /// One sentence for people, in lower case, without secrets: what happened and what to do.
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
