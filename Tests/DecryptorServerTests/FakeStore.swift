import MerchantCore
import MerchantTestSupport
import Synchronization
import Vocabulary

/// The store in memory, which counts its reads, can pause after a read, and can fail its reads and writes.
final class FakeStore: MerchantRepository {
    let memory: MemoryRepository
    /// Thrown by every write while it is set.
    let failure = Mutex<MerchantError?>(nil)
    /// Thrown by every read while it is set.
    let readFailure = Mutex<MerchantError?>(nil)
    /// How often the store was read.
    let reads = Atomic<Int>(0)
    /// Called after every read that ``readFailure`` does not fail, before the result is returned.
    let afterRead = Mutex<(@Sendable () -> Void)?>(nil)

    init(observers: StoreObservers = StoreObservers()) { memory = MemoryRepository(observers: observers) }

    var audit: [AuditEntry] { memory.audit }

    func use(of hash: PublicKeyHash) -> KeyUse? { memory.now { $0.keyUse(of: hash) } }

    func put(_ keyPair: KeyPair, _ certificates: [StoredCertificate]) {
        mustSucceed { transaction in
            if transaction.merchant(keyPair.merchantIdentifier) == nil {
                try transaction.insert(
                    Merchant(identifier: keyPair.merchantIdentifier, name: nil, createdAt: keyPair.createdAt))
            }
            // As a promotion does: a merchant has one current key pair of each purpose and algorithm.
            for var other in transaction.keyPairs(of: keyPair.merchantIdentifier)
            where keyPair.state == .current && other.state == .current && other.purpose == keyPair.purpose
                && other.algorithm == keyPair.algorithm
            {
                other.state = .retiring
                try transaction.update(other)
            }
            guard transaction.keyPair(keyPair.publicKeyHash) == nil else { return try transaction.update(keyPair) }
            try transaction.insert(
                keyPair,
                NewKeyPair(
                    publicKeyHash: keyPair.publicKeyHash, algorithm: keyPair.algorithm, purpose: keyPair.purpose,
                    subjectPublicKeyInfo: [1], certificateSigningRequest: [1],
                    sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: 1, bytes: [1])))
            for certificate in certificates {
                _ = try transaction.insert(certificate, of: keyPair.publicKeyHash)
            }
        }
    }

    /// Adds a certificate as an upload does: commits, then notifies the observers.
    func add(_ certificate: StoredCertificate, to hash: PublicKeyHash) async throws {
        _ = try await write { try $0.insert(certificate, of: hash) }
    }

    private func mustSucceed(_ body: (MemoryTransaction) throws -> Void) {
        do { try memory.change(body) } catch { preconditionFailure("\(error)") }
    }

    /// Changes a key pair as an admin's command does: commits, then notifies the observers.
    func move(_ hash: PublicKeyHash, to keyState: KeyState) async throws {
        try await write { transaction in
            guard var keyPair = try transaction.keyPair(hash) else {
                throw MerchantError(.keyNotFound, "there is no key pair \(hash)")
            }
            keyPair.state = keyState
            try transaction.update(keyPair)
        }
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result {
        try readNow(body)
    }

    func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        reads.add(1, ordering: .relaxed)
        if let error = readFailure.withLock({ $0 }) { throw error }
        let state = memory.snapshot
        defer { afterRead.withLock { $0 }?() }
        return try body(state)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result {
        if let error = failure.withLock({ $0 }) { throw error }
        return try await memory.write(body)
    }

    func eraseCopiesOfDestroyedSecrets() async throws {}
}

/// A clock that a test moves.
final class HandClock: WallClock {
    private let time = Mutex(Timestamp(millisecondsSince1970: 1_790_000_000_000))

    var now: Timestamp { time.withLock { $0 } }
    var uptime: Duration { .milliseconds(now.millisecondsSince1970) }
    let bootIdentifier = "boot"

    func advance(by duration: Duration) { time.withLock { $0 = $0.adding(duration) } }
}
