import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Vocabulary

/// The use cases over the real store, in a directory that is removed with the value.
final class RealStore: Sendable {
    static let caller = Caller(uid: 1, gid: 1, pid: 1, program: "test")
    static let request = Request(caller: caller, requestId: "test")

    let directory: URL
    let store: SQLiteStore
    let clock: HandMovedClock
    let policy: RollPolicy
    let operations: Operations

    init(
        policy: RollPolicy = RollPolicy(), environment: Environment = .sandbox, backups: BackupPolicy = BackupPolicy(),
        nodes: any NodeDirectory = NoNodes()
    ) throws {
        // In memory if possible, because these tests need no durability.
        let base = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        directory = URL(filePath: base).appending(path: "rolls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        self.policy = policy
        clock = HandMovedClock()
        store = try SQLiteStore.open(path: directory.appending(path: "test.sqlite").path, clock: clock)
        try store.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: clock.now))
        operations = Operations(
            repository: store, custodian: NamedKeysCustodian(), claims: MemoryClaimLedger(), clock: clock,
            environment: environment, rolls: policy, backups: backups, nodes: nodes)
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    static func merchant(_ number: Int) -> MerchantIdentifier {
        guard let merchant = MerchantIdentifier("merchant.com.example.m\(number)") else {
            preconditionFailure("the text is a valid identifier")
        }
        return merchant
    }

    func state(_ hash: PublicKeyHash) throws -> KeyState? { try store.readNow { try $0.keyPair(hash)?.state } }

    /// Stores a certificate that is valid for 25 months by default.
    func certify(_ hash: PublicKeyHash, of merchant: MerchantIdentifier, days: Int = 760) async throws {
        let now = clock.now
        _ = try await operations.certificates.storeCertificate(
            NamedKeysCustodian.certificate(
                hash, of: merchant, from: now, to: now.adding(.seconds(days * 86_400))),
            for: merchant, for: Self.request)
    }

    /// Adds a merchant with a current key, and returns this key.
    func onboard(_ merchant: MerchantIdentifier, days: Int = 760) async throws -> PublicKeyHash {
        _ = try await operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: Self.request)
        let hash = try await operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: Self.request
        ).keyPair.publicKeyHash
        try await certify(hash, of: merchant, days: days)
        _ = try await operations.transitions.promote(hash, dryRun: false, for: Self.request)
        return hash
    }

    func startRoll(_ merchant: MerchantIdentifier) async throws -> RollView {
        try await operations.rolls.startRoll(of: merchant, algorithm: nil, for: Self.request).view
    }

    /// Records the decryption of a token for the key, and stores this use.
    func decryptToken(for hash: PublicKeyHash) async throws {
        operations.observedUses.recordDecryption(hash, at: clock.now)
        try await operations.keyUses.storeUses(as: Self.caller)
    }

    /// Requests the key, as a decryptor does, and stores this use.
    func requestKey(_ hash: PublicKeyHash) async throws {
        _ = try? operations.paymentTokens.resolveNow(hash)
        try await operations.keyUses.storeUses(as: Self.caller)
    }
}

extension PaymentTokenOperations {
    /// Resolves a key for a caller with every permit.
    func resolveNow(_ hash: PublicKeyHash) throws -> DecryptionKey { try resolveNow(hash) { _ in } }
}

/// The code of the ``MerchantError`` that `body` throws; nil if it throws none.
func refusal(_ body: () async throws -> Void) async -> MerchantError.Code? {
    do {
        try await body()
        return nil
    } catch { return (error as? MerchantError)?.code }
}
