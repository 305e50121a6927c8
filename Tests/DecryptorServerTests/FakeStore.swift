import MerchantCore
import Synchronization
import Vocabulary

/// A store in memory: transactions commit together or not at all, and observers are told after the commit.
final class FakeStore: MerchantRepository {
    struct State: Sendable {
        var keyPairs: [PublicKeyHash: KeyPair] = [:]
        var certificates: [PublicKeyHash: [StoredCertificate]] = [:]
        var audit: [AuditEntry] = []
        var events: [Event] = []
        var uses: [PublicKeyHash: KeyUse] = [:]
        var observers: [any KeyChangeObserver] = []
    }

    struct NotNeeded: Error {}

    let state = Mutex(State())
    /// Thrown by every write while it is set.
    let failure = Mutex<MerchantError?>(nil)
    /// How often a key pair was read.
    let reads = Atomic<Int>(0)
    /// Passed by every read on its way out, with what it saw.
    let afterRead = Mutex<(@Sendable () -> Void)?>(nil)

    var audit: [AuditEntry] { state.withLock { $0.audit } }

    func put(_ keyPair: KeyPair, _ certificates: [StoredCertificate]) {
        state.withLock {
            $0.keyPairs[keyPair.publicKeyHash] = keyPair
            $0.certificates[keyPair.publicKeyHash] = certificates
        }
    }

    /// Moves a key as an admin's command does: commits, then tells the observers.
    func move(_ hash: PublicKeyHash, to keyState: KeyState) async throws {
        try await write { transaction in
            guard var keyPair = try transaction.keyPair(hash) else { throw NotNeeded() }
            keyPair.state = keyState
            try transaction.update(keyPair)
        }
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantReading) throws -> Result
    ) async throws -> Result {
        try readNow(body)
    }

    func readNow<Result>(_ body: (any MerchantReading) throws -> Result) throws -> Result {
        reads.add(1, ordering: .relaxed)
        let seen = FakeTransaction(state.withLock { $0 })
        defer { afterRead.withLock { $0 }?() }
        return try body(seen)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any MerchantTransaction) throws -> Result
    ) async throws -> Result {
        if let error = failure.withLock({ $0 }) { throw error }
        let (result, changed, observers) = try state.withLock { state in
            let transaction = FakeTransaction(state)
            let result = try body(transaction)
            state = transaction.state
            return (result, transaction.changed, state.observers)
        }
        if !changed.isEmpty { for observer in observers { observer.keysChanged(changed) } }
        return result
    }

    func eraseRemovedBytes() async throws {}
}

/// What the use cases of the decryptor's socket touch.
final class FakeTransaction: MerchantTransaction {
    var state: FakeStore.State
    var changed: [PublicKeyHash] = []

    init(_ state: FakeStore.State) { self.state = state }

    func keyPair(_ hash: PublicKeyHash) throws -> KeyPair? { state.keyPairs[hash] }
    func certificates(of hash: PublicKeyHash) throws -> [StoredCertificate] { state.certificates[hash] ?? [] }
    func update(_ keyPair: KeyPair) throws {
        state.keyPairs[keyPair.publicKeyHash] = keyPair
        changed.append(keyPair.publicKeyHash)
    }
    func append(_ entry: AuditEntry) throws { state.audit.append(entry) }

    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant? { throw FakeStore.NotNeeded() }
    func merchants(after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant] { throw FakeStore.NotNeeded() }
    func keyPairs(of merchant: MerchantIdentifier) throws -> [KeyPair] { throw FakeStore.NotNeeded() }
    func keyPairs(prefix text: String, limit: Int) throws -> [KeyPair] { throw FakeStore.NotNeeded() }
    func keyPairs(in state: KeyState, after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair] {
        throw FakeStore.NotNeeded()
    }
    func certificateSigningRequest(of hash: PublicKeyHash) throws -> [UInt8]? { throw FakeStore.NotNeeded() }
    func sealedPrivateKey(of hash: PublicKeyHash) throws -> SealedPrivateKey? { throw FakeStore.NotNeeded() }
    func keyPairsToDestroy(at moment: Timestamp, limit: Int) throws -> [PublicKeyHash] { throw FakeStore.NotNeeded() }
    func auditRecords(
        _ filter: AuditFilter, from cursor: Int?, oldestFirst: Bool, limit: Int
    ) throws -> [AuditRecord] { throw FakeStore.NotNeeded() }
    func auditSegment(from sequence: Int, limit: Int) throws -> AuditSegment { throw FakeStore.NotNeeded() }
    func auditHead() throws -> AuditHead? { throw FakeStore.NotNeeded() }
    func counts(at moment: Timestamp) throws -> StoreCounts { throw FakeStore.NotNeeded() }
    func merchantsBelowTarget(after cursor: MerchantIdentifier?, limit: Int) throws -> [MerchantBelowTarget] {
        throw FakeStore.NotNeeded()
    }
    func keyPairsExpiring(before moment: Timestamp, limit: Int) throws -> [ExpiringKeyPair] {
        throw FakeStore.NotNeeded()
    }
    func keyPairs(after cursor: PublicKeyHash?, limit: Int) throws -> [KeyPair] { throw FakeStore.NotNeeded() }
    func backupCoverage() throws -> BackupCoverage { throw FakeStore.NotNeeded() }
    func isNewestKeyPairBackedUp(of merchant: MerchantIdentifier) throws -> Bool? { throw FakeStore.NotNeeded() }
    func record(_ manifest: BackupManifest, at path: String, verifiedAt: Timestamp?) throws {
        throw FakeStore.NotNeeded()
    }
    func daemonFact(_ name: String) throws -> String? { throw FakeStore.NotNeeded() }
    func insert(_ merchant: Merchant) throws { throw FakeStore.NotNeeded() }
    func update(_ merchant: Merchant) throws { throw FakeStore.NotNeeded() }
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws { throw FakeStore.NotNeeded() }
    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool { throw FakeStore.NotNeeded() }
    func removeSealedPrivateKey(of hash: PublicKeyHash) throws { throw FakeStore.NotNeeded() }
    func idempotentOutcome(_ key: IdempotencyKey) throws -> IdempotentOutcome? { throw FakeStore.NotNeeded() }
    func remember(_ key: IdempotencyKey, requestDigest: [UInt8], resource: String, at time: ClockReading) throws {
        throw FakeStore.NotNeeded()
    }
    func setDaemonFact(_ name: String, _ value: String) throws { throw FakeStore.NotNeeded() }
}

/// Moved by hand.
final class HandClock: WallClock {
    private let moment = Mutex(Timestamp(millisecondsSince1970: 1_790_000_000_000))

    var now: Timestamp { moment.withLock { $0 } }
    var uptime: Duration { .milliseconds(now.millisecondsSince1970) }
    let bootIdentifier = "boot"

    func advance(by duration: Duration) { moment.withLock { $0 = $0.adding(duration) } }
}
