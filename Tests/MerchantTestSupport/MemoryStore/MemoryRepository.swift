package import MerchantCore
import Synchronization
import Vocabulary

/// A store in memory. Each write works on a copy, which becomes the state if the write does not throw.
package final class MemoryRepository: MerchantRepository {
    private let state = Mutex(MemoryState())
    private let observers: StoreObservers

    package init(observers: StoreObservers = StoreObservers()) { self.observers = observers }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result { try readNow(body) }

    package func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        try body(snapshot)
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result {
        let (result, hasEvents, changedKeys) = try state.withLock { state in
            let transaction = MemoryTransaction(state)
            let result = try body(transaction)
            state = transaction.state
            return (result, transaction.hasEvents, transaction.changedKeys)
        }
        if !changedKeys.isEmpty {
            for observer in observers.keys { observer.keysChanged(changedKeys) }
        }
        if hasEvents { observers.events?.eventsChanged() }
        return result
    }

    package func eraseCopiesOfDestroyedSecrets() async throws {}

    /// The present state, for reading.
    package var snapshot: MemoryTransaction { MemoryTransaction(state.withLock { $0 }) }

    /// Reads the present state.
    package func now<Result>(_ body: (MemoryTransaction) -> Result) -> Result { body(snapshot) }

    /// Changes the state without notifying observers.
    package func change(_ body: (MemoryTransaction) throws -> Void) rethrows {
        try state.withLock { state in
            let transaction = MemoryTransaction(state)
            try body(transaction)
            state = transaction.state
        }
    }

    /// Every event, oldest first.
    package var events: [Event] { state.withLock { $0.events.map(\.event) } }

    /// Every audit entry, oldest first.
    package var audit: [AuditEntry] { state.withLock { $0.audit.map(\.entry) } }
}

struct MemoryState: Sendable {
    struct Row: Sendable {
        var keyPair: KeyPair
        let new: NewKeyPair
        var sealed: SealedPrivateKey?
        var certificates: [StoredCertificate] = []
    }

    var merchants: [MerchantIdentifier: Merchant] = [:]
    /// Oldest first.
    var rows: [Row] = []
    var audit: [AuditRecord] = []
    var outcomes: [IdempotencyKey: (outcome: IdempotentOutcome, storedAt: Timestamp)] = [:]
    var daemonValues: [String: String] = [:]
    /// By the digest of the backup.
    var backups: [[UInt8]: MemoryBackup] = [:]
    var apple = MemoryRegistrations()
    var events: [StoredEvent] = []
    /// The highest sequence of any event.
    var lastSequence = 0
    var webhooks: [MemoryWebhook] = []
    var rolls: [Roll] = []
    var uses: [PublicKeyHash: KeyUse] = [:]
    /// When the schedule next checks the expiry of a key pair: never if nil, immediately if there is no entry.
    var watches: [PublicKeyHash: Timestamp?] = [:]
    var warnings: [String: Timestamp] = [:]
    /// Merchants that once had an active payment processing key pair.
    var hadActiveKeyPair: Set<MerchantIdentifier> = []
    var portal = MemoryPortal()
    var merchantTokens = MemoryMerchantTokens()
}
