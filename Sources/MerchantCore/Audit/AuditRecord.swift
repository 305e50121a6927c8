import Crypto
package import Vocabulary

/// The action that an audit record names.
package enum AuditAction: String, Sendable, CaseIterable {
    case daemonStarted
    /// At a start or a reload, the permits of callers differed from those that were recorded last.
    case permitsChanged
    /// The setting `environment` differed from its value at the daemon's last start.
    case environmentChanged
    case merchantAdded
    case merchantChanged
    case merchantRemoved
    case keyGenerated
    case keyImported
    case certificateStored
    /// The issuer of a stored certificate, which was not verified before, is verified now.
    case certificateIssuerVerified
    case keyPromoted
    /// The key pair is no longer current, because another key pair was promoted.
    case keySuperseded
    case keyRevoked
    case keyRestored
    case keyDestructionScheduled
    case keyDestroyed
    case rollStarted
    case rollFinished
    case rollAbandoned
    case privateKeyExported
    case tokenDecryptedUnverified
    /// A token was verified as of a time that the request named, instead of now.
    case tokenVerifiedAtOtherTime
    /// A request to decrypt a token named the merchant `any` instead of one merchant.
    case tokenDecryptedForAnyMerchant
    /// Card data was encrypted for in-app provisioning.
    case cardDataEncrypted
    /// A request to encrypt card data for in-app provisioning was refused.
    case cardDataRefused
    /// A summary of requests that were refused because the caller lacked a permit.
    case requestsRefused
    case backupCreated
    case backupVerified
    case databaseRestored
    /// The daemon started with a database that lacks earlier changes, such as an older copy. An admin permitted this
    /// start; no permission is needed if only the lock file shows the loss.
    case olderDatabaseAccepted
    /// The daemon started with a database that was copied from another kind of database.
    case storeCopied
    /// A call to Apple was stored, before it was sent.
    case registrationCallOpened
    case registrationChanged
    case registrationCallFailed
    /// Apple's record of a registration differs from what should be registered.
    case registrationDriftFound
    /// The file by which Apple verifies merchants' domains was changed.
    case domainFileChanged
    /// The daemon refused to request a merchant session at a URL that is not Apple's.
    case validationURLRefused
    /// A secret path for notifications of merchant tokens was created for a merchant.
    case tokenNotificationPathCreated
    /// Apple no longer accepts payments with a merchant token, because the platform unlinked it.
    case merchantTokenUnlinked
    /// The URL for notifications of a merchant token was changed at Apple.
    case merchantTokenNotificationURLChanged
    /// An event of a merchant token was fetched from Apple.
    case merchantTokenEventReceived
    /// The account number (MPAN) of a merchant token was sent to a caller.
    case mpanRead
    /// A rotation erased the account number of a merchant token, because its sealed bytes were damaged.
    case damagedMPANErased
    /// Apple was notified that usage information of a merchant token is ready.
    case merchantTokenUsageNotified
    /// An admin requested the delivery of events whose delivery the daemon had given up.
    case eventsRedelivered
    /// An admin sent a test event to a webhook.
    case webhookTested
    /// An admin removed a daemon from the list of the daemons that share the database.
    case nodeRemoved
    case masterKeyRotationStarted
    case masterKeyRotationFinished
    /// A machine got access to the portal.
    case accessCreated
    /// An access got a new token, which replaces the one before.
    case accessRotated
    case accessRevoked
    case invitationCreated
    /// A person at a merchant began a session at the portal with an invitation.
    case invitationUsed
    case invitationRevoked
    /// A user got a URL for signing in to the portal as an operator.
    case operatorLoginCreated
    case operatorLoginUsed
    /// The sessions and unused logins of an operator, or of all operators, ended.
    case operatorSessionsEnded
    /// A reload replaced settings while the daemon ran.
    case settingsReloaded
}

/// What the audit records about one action: the caller, the merchant and key concerned, the states before and after,
/// and the reason.
package struct AuditEntry: Hashable, Sendable {
    package let action: AuditAction
    package let caller: Caller
    package let at: Timestamp
    package let merchantIdentifier: MerchantIdentifier?
    package let publicKeyHash: PublicKeyHash?
    package let before: String?
    package let after: String?
    package let reason: String?
    package let requestId: String?
    /// Which of the daemons that share a database performed the action; nil on SQLite. The store sets this.
    package var node: NodeName?

    package init(
        _ action: AuditAction, by caller: Caller, at: Timestamp, merchant: MerchantIdentifier? = nil,
        key: PublicKeyHash? = nil, before: String? = nil, after: String? = nil, reason: String? = nil,
        requestId: String? = nil, node: NodeName? = nil
    ) {
        self.action = action
        self.caller = caller
        self.at = at
        merchantIdentifier = merchant
        publicKeyHash = key
        self.before = before
        self.after = after
        self.reason = reason
        self.requestId = requestId
        self.node = node
    }
}

/// An audit entry with its sequence and hashes, as stored in the audit chain. Each record contains the hash of the
/// record before it, so that a later change is detected.
package struct AuditRecord: Hashable, Sendable {
    /// The `previousHash` of the first record.
    package static let genesis = [UInt8](repeating: 0, count: 32)

    /// 1, 2, 3 … without gaps.
    package let sequence: Int
    package let entry: AuditEntry
    package let previousHash: [UInt8]
    package let hash: [UInt8]

    package init(sequence: Int, entry: AuditEntry, previousHash: [UInt8], hash: [UInt8]) {
        self.sequence = sequence
        self.entry = entry
        self.previousHash = previousHash
        self.hash = hash
    }

    /// The record for an entry that follows the record with the hash `previousHash`. Computes the new record's hash.
    package init(_ entry: AuditEntry, sequence: Int, after previousHash: [UInt8]) {
        self.init(
            sequence: sequence, entry: entry, previousHash: previousHash,
            hash: Self.hash(of: entry, sequence: sequence, after: previousHash))
    }

    /// Whether the record's content matches its hash.
    package var isIntact: Bool { fits(sequence: sequence) }

    /// Whether the record's content would match its hash if its sequence were `sequence`.
    func fits(sequence: Int) -> Bool { Self.hash(of: entry, sequence: sequence, after: previousHash) == hash }

    /// SHA-256 over the previous hash and all fields. A field is encoded as the byte 1, a 4-byte length and its bytes;
    /// an absent field as the byte 0. So two different records never have the same encoding.
    private static func hash(of entry: AuditEntry, sequence: Int, after previousHash: [UInt8]) -> [UInt8] {
        var hasher = SHA256()
        func add(_ text: String?) {
            guard let text else { return hasher.update(data: [0]) }
            let bytes = Array(text.utf8)
            hasher.update(data: [1])
            hasher.update(data: (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) })
            hasher.update(data: bytes)
        }
        hasher.update(data: Array("merchantkeyd audit 1".utf8))
        hasher.update(data: previousHash)
        add(String(sequence))
        add(entry.action.rawValue)
        switch entry.caller {
        case .process(let process):
            add(String(process.uid))
            add(String(process.gid))
            add(String(process.pid))
            add(process.program)
        case .remote(let remote):
            add(nil)
            add(remote.name)
            add(remote.address)
        }
        add(String(entry.at.millisecondsSince1970))
        add(entry.merchantIdentifier?.rawValue)
        add(entry.publicKeyHash?.hex)
        add(entry.before)
        add(entry.after)
        add(entry.reason)
        add(entry.requestId)
        add(entry.node?.text)
        return Array(hasher.finalize())
    }
}
