import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Synchronization
import Vocabulary

/// A daemon's scheduled work over the real stores, with clocks that the test moves. The daemon can be stopped and
/// started again.
final class SimulatedDaemon {
    static let caller = Caller(uid: 1, gid: 1, pid: 1, program: "test")
    static let request = Request(caller: caller, requestId: "test")

    let clock = HandMovedClock()
    /// How long events are kept.
    let eventAge: Duration
    private let policy: RollPolicy
    private let directory: URL
    private let custodian = NamedKeysCustodian()
    private(set) var store: SQLiteStore
    private(set) var claims: ClaimStore
    private(set) var operations: Operations
    private(set) var confirmedTime: ConfirmedTime
    private var ticks = 0

    init(quietPeriod: Duration, eventAge: Duration) throws {
        let base = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        directory = URL(filePath: base).appending(path: "clock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        var policy = RollPolicy()
        policy.quietPeriod = quietPeriod
        policy.finishesWhenQuiet = true
        self.policy = policy
        self.eventAge = eventAge
        (store, claims, operations, confirmedTime) = try Self.open(directory, clock, custodian, policy)
        try store.insert(SealedDataKey(identifier: 1, bytes: [1], masterKeyCheck: [1], createdAt: clock.now))
    }

    deinit {
        try? store.close()
        try? claims.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private static func open(
        _ directory: URL, _ clock: HandMovedClock, _ custodian: NamedKeysCustodian, _ policy: RollPolicy
    ) throws -> (SQLiteStore, ClaimStore, Operations, ConfirmedTime) {
        let database = try OpenedDatabase(path: directory.appending(path: "test.sqlite").path, clock: clock)
        let confirmed = ConfirmedTime(
            clock: clock, last: try database.readOrClose { try ClockOperations.lastConfirmedTime(in: $0) })
        let store = SQLiteStore(database, clock: clock, confirmedTime: confirmed)
        let claims = try ClaimStore.open(path: directory.appending(path: "claims.sqlite").path, clock: clock)
        let operations = Operations(
            repository: store, custodian: custodian, claims: claims, clock: clock, confirmedTime: confirmed,
            environment: .sandbox, rolls: policy)
        return (store, claims, operations, confirmed)
    }

    /// Stops the daemon, switches the machine off and on with a clock that is wrong by `step`, and starts the daemon.
    func restart(offFor: Duration, step: Duration) async throws {
        try await operations.clock.storeConfirmedTime()
        try store.close()
        try claims.close()
        clock.reboot(offFor: offFor)
        clock.step(by: step)
        (store, claims, operations, confirmedTime) = try Self.open(directory, clock, custodian, policy)
    }

    /// Runs the scheduled work that depends on time.
    func tick() async throws {
        _ = try await operations.keyUses.storeUses(as: Self.caller)
        _ = try await operations.renewals.runSchedule(as: Self.caller)
        _ = try await operations.transitions.destroyDueKeyPairs(as: Self.caller)
        _ = try await operations.events.removeEvents(olderThan: eventAge)
        _ = try await operations.clock.clockFinding()
        ticks += 1
        try await remember("tick \(ticks)")
        try await operations.clock.storeConfirmedTime()
    }
}

// MARK: - Work to schedule

extension SimulatedDaemon {
    /// Adds a merchant with a current key, and returns this key.
    func onboard(_ merchant: MerchantIdentifier) async throws -> PublicKeyHash {
        _ = try await operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: Self.request)
        let hash = try await generate(merchant)
        try await certify(hash, of: merchant)
        _ = try await operations.transitions.promote(hash, dryRun: false, for: Self.request)
        return hash
    }

    private func generate(_ merchant: MerchantIdentifier) async throws -> PublicKeyHash {
        try await operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: Self.request
        ).keyPair.publicKeyHash
    }

    private func certify(_ hash: PublicKeyHash, of merchant: MerchantIdentifier) async throws {
        let now = clock.now
        _ = try await operations.certificates.storeCertificate(
            NamedKeysCustodian.certificate(hash, of: merchant, from: now, to: now.adding(.seconds(3000 * 86_400))),
            for: merchant, for: Self.request)
    }

    /// Revokes a new key and schedules its destruction, and returns this key.
    func scheduleDestruction(of merchant: MerchantIdentifier, after wait: Duration) async throws -> PublicKeyHash {
        let hash = try await generate(merchant)
        _ = try await operations.transitions.revoke(hash, reason: "spare", dryRun: false, for: Self.request)
        _ = try await operations.transitions.destroy(hash, after: wait, dryRun: false, for: Self.request)
        return hash
    }

    /// Starts a roll whose new key is in use, so that it waits only for time, and returns the old key.
    func startRollWaitingForQuiet(_ merchant: MerchantIdentifier) async throws -> PublicKeyHash {
        let old = try await onboard(merchant)
        clock.advance(by: .seconds(1))
        let roll = try await operations.rolls.startRoll(of: merchant, algorithm: nil, for: Self.request).view.roll
        try await certify(roll.to, of: merchant)
        operations.observedUses.recordDecryption(roll.to, at: clock.now)
        try await operations.keyUses.storeUses(as: Self.caller)
        return old
    }

    func state(_ hash: PublicKeyHash) throws -> KeyState? { try store.readNow { try $0.keyPair(hash)?.state } }

    func hasEvent(_ sequence: Int) async throws -> Bool {
        try await operations.events.events(EventQuery(.after(sequence - 1), limit: 1)).first?.sequence == sequence
    }

    // MARK: Idempotency keys

    func remember(_ value: String) async throws {
        let time = confirmedTime.reading()
        try await store.write {
            try $0.remember(Self.key(value), requestDigest: [1], resource: "r", at: time)
        }
    }

    func isRemembered(_ value: String) async throws -> Bool {
        try await store.write { try $0.idempotentOutcome(Self.key(value)) != nil }
    }

    private static func key(_ value: String) -> IdempotencyKey {
        IdempotencyKey(caller: "uid:1", operation: "POST /v1/merchants", value: value)
    }

    // MARK: Payment tokens

    /// Presents a token that Apple signed at `signedAt`. As in the daemon, the token is claimed only if this time is
    /// within five minutes of the clock.
    ///
    /// - Returns: whether the token was accepted as a new payment.
    func present(_ payment: Int, signedAt: Timestamp) async throws -> Bool {
        let now = clock.now
        guard (signedAt.adding(.seconds(-300))...signedAt.adding(.seconds(300))).contains(now),
            let id = Bits256(bytes: PublicKeyHash(of: Array("payment \(payment)".utf8)).bytes)
        else { return false }
        do {
            return try await claims.claim(TokenClaim(transactionId: id, caller: "uid:1", at: now, requestIdentity: nil))
                == .claimed
        } catch let error as MerchantError where [.tokenAlreadyClaimed, .tokenNotVerified].contains(error.code) {
            return false
        }
    }
}
