package import MerchantCore
import Synchronization
import Vocabulary

/// The store as a value in memory: each write works on a copy, which becomes the state if it does not throw.
package final class MemoryRepository: MerchantRepository {
    private let state = Mutex(MemoryState())
    private let eventObserver = Mutex<(any EventObserver)?>(nil)

    package init() {}

    package func setEventObserver(_ observer: any EventObserver) { eventObserver.withLock { $0 = observer } }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantReading) throws -> Result
    ) async throws -> Result { try readNow(body) }

    package func readNow<Result>(_ body: (any MerchantReading) throws -> Result) throws -> Result {
        try body(MemoryTransaction(state.withLock { $0 }))
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantTransaction) throws -> Result
    ) async throws -> Result {
        let (result, changedEvents) = try state.withLock { state in
            let transaction = MemoryTransaction(state)
            let result = try body(transaction)
            defer { state = transaction.state }
            return (result, transaction.state.events != state.events)
        }
        if changedEvents { eventObserver.withLock { $0 }?.eventsChanged() }
        return result
    }

    package func eraseRemovedBytes() async throws {}

    /// Every event, oldest first.
    package var events: [Event] { state.withLock { $0.events.map(\.event) } }
}

struct MemoryState: Sendable {
    struct Row: Sendable {
        var keyPair: KeyPair
        let new: NewKeyPair
        var sealed: SealedPrivateKey?
        var certificates: [StoredCertificate] = []
    }

    var merchants: [MerchantIdentifier: Merchant] = [:]
    /// In the order they were made.
    var rows: [Row] = []
    var audit: [AuditRecord] = []
    var outcomes: [IdempotencyKey: IdempotentOutcome] = [:]
    var facts: [String: String] = [:]
    var verifiedBackup: Timestamp?
    var apple = MemoryRegistrations()
    var events: [StoredEvent] = []
    var webhooks: [WebhookState] = []
    var rolls: [Roll] = []
    var uses: [PublicKeyHash: KeyUse] = [:]
    /// When the schedule looks at a key pair next; absent: at once.
    var watches: [PublicKeyHash: Timestamp?] = [:]
    var warnings: [String: Timestamp] = [:]
    /// Merchants that had an active payment processing key pair at some time.
    var hadActiveKeyPair: Set<MerchantIdentifier> = []
}

final class MemoryTransaction: MerchantTransaction {
    var state: MemoryState

    init(_ state: MemoryState) { self.state = state }

    private func row(_ hash: PublicKeyHash) -> MemoryState.Row? {
        state.rows.first { $0.keyPair.publicKeyHash == hash }
    }

    private func change(_ hash: PublicKeyHash, _ body: (inout MemoryState.Row) -> Void) {
        guard let index = state.rows.firstIndex(where: { $0.keyPair.publicKeyHash == hash }) else { return }
        body(&state.rows[index])
    }

    func merchant(_ identifier: MerchantIdentifier) -> Merchant? { state.merchants[identifier] }

    func merchants(after cursor: MerchantIdentifier?, limit: Int) -> [Merchant] {
        Array(
            state.merchants.values.filter { merchant in
                merchant.removedAt == nil && (cursor.map { $0 < merchant.identifier } ?? true)
            }.sorted { $0.identifier < $1.identifier }.prefix(limit))
    }

    func keyPair(_ hash: PublicKeyHash) -> KeyPair? { row(hash)?.keyPair }

    func keyPairs(of merchant: MerchantIdentifier) -> [KeyPair] {
        state.rows.map(\.keyPair).filter { $0.merchantIdentifier == merchant }
    }

    func keyPairs(prefix text: String, limit: Int) -> [KeyPair] {
        Array(
            state.rows.map(\.keyPair).filter {
                let hash = $0.publicKeyHash
                return [hash.base64, hash.base64URL, hash.hex].contains { $0.hasPrefix(text) }
            }.prefix(limit))
    }

    func keyPairs(in keyState: KeyState, after cursor: PublicKeyHash?, limit: Int) -> [KeyPair] {
        let begin = cursor.flatMap { hash in state.rows.firstIndex { $0.keyPair.publicKeyHash == hash } } ?? -1
        return Array(state.rows[(begin + 1)...].map(\.keyPair).filter { $0.state == keyState }.prefix(limit))
    }

    func certificates(of hash: PublicKeyHash) -> [StoredCertificate] { row(hash)?.certificates ?? [] }

    func certificateSigningRequest(of hash: PublicKeyHash) -> [UInt8]? { row(hash)?.new.certificateSigningRequest }

    func sealedPrivateKey(of hash: PublicKeyHash) -> SealedPrivateKey? { row(hash)?.sealed }

    func keyPairsToDestroy(at moment: Timestamp, limit: Int) -> [PublicKeyHash] {
        let due = state.rows.map(\.keyPair).filter {
            $0.state == .revoked && ($0.destroyAfter.map { $0 <= moment } ?? false)
        }
        return due.prefix(limit).map(\.publicKeyHash)
    }

    func auditRecords(_ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int) -> [AuditRecord] {
        let fitting = state.audit.filter { record in
            let entry = record.entry
            return (filter.merchant.map { entry.merchantIdentifier == $0 } ?? true)
                && (filter.key.map { entry.publicKeyHash == $0 } ?? true)
                && (filter.callerUID.map { entry.caller.uid == $0 } ?? true)
                && (filter.since.map { entry.at >= $0 } ?? true) && (filter.until.map { entry.at < $0 } ?? true)
                && (cursor.map { oldestFirst ? record.sequence > $0 : record.sequence < $0 } ?? true)
        }
        return Array((oldestFirst ? fitting : fitting.reversed()).prefix(limit))
    }

    func auditSegment(from sequence: Int, limit: Int) -> AuditSegment {
        AuditSegment(
            links: state.audit.filter { $0.sequence >= sequence }.prefix(limit).map(AuditLink.record),
            given: state.audit.count)
    }

    func auditHead() -> AuditHead? { state.audit.last.map { AuditHead(sequence: $0.sequence, hash: $0.hash) } }

    func counts(at moment: Timestamp) -> StoreCounts {
        var counts = StoreCounts()
        counts.merchants = merchants(after: nil, limit: .max).count
        counts.keyPairs = Dictionary(grouping: state.rows, by: \.keyPair.state).mapValues(\.count)
        counts.certificates = state.rows.map(\.certificates.count).reduce(0, +)
        counts.merchantsBelowTarget = merchantsBelowTarget(after: nil, limit: .max).count
        counts.auditRecords = state.audit.count
        counts.auditHead = auditHead()
        countRegistrations(in: &counts)
        return counts
    }

    func keyPairs(after cursor: PublicKeyHash?, limit: Int) -> [KeyPair] {
        Array(
            state.rows.map(\.keyPair).sorted { $0.publicKeyHash.hex < $1.publicKeyHash.hex }
                .filter { keyPair in cursor.map { $0.hex < keyPair.publicKeyHash.hex } ?? true }.prefix(limit))
    }

    func backupCoverage() -> BackupCoverage {
        var coverage = BackupCoverage()
        coverage.lastVerified = state.verifiedBackup
        return coverage
    }

    func isNewestKeyPairBackedUp(of merchant: MerchantIdentifier) -> Bool? { nil }

    func daemonFact(_ name: String) -> String? { state.facts[name] }

    func insert(_ merchant: Merchant) { state.merchants[merchant.identifier] = merchant }

    func update(_ merchant: Merchant) { state.merchants[merchant.identifier] = merchant }

    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) {
        state.rows.append(.init(keyPair: keyPair, new: new, sealed: new.sealedPrivateKey))
        noteActive(keyPair)
    }

    func update(_ keyPair: KeyPair) {
        if self.keyPair(keyPair.publicKeyHash)?.state != keyPair.state {
            state.watches[keyPair.publicKeyHash] = nil
            state.uses[keyPair.publicKeyHash]?.promotionConfirmedAt = nil
        }
        change(keyPair.publicKeyHash) { $0.keyPair = keyPair }
        noteActive(keyPair)
    }

    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) -> Bool {
        guard !certificates(of: hash).contains(where: { $0.fingerprint == certificate.fingerprint }) else {
            return false
        }
        state.watches[hash] = nil
        change(hash) { $0.certificates.append(certificate) }
        return true
    }

    func removeSealedPrivateKey(of hash: PublicKeyHash) { change(hash) { $0.sealed = nil } }

    func append(_ entry: AuditEntry) {
        state.audit.append(
            AuditRecord(
                entry, sequence: state.audit.count + 1, after: state.audit.last?.hash ?? AuditRecord.genesis))
    }

    func idempotentOutcome(_ key: IdempotencyKey) -> IdempotentOutcome? { state.outcomes[key] }

    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) {
        state.outcomes[key] = IdempotentOutcome(requestDigest: requestDigest, resource: resource)
    }

    func setDaemonFact(_ name: String, _ value: String) { state.facts[name] = value }

    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) {
        if verifiedAt != nil { state.verifiedBackup = manifest.createdAt }
    }
}
