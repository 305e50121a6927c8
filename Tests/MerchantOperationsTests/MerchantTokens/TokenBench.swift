import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PaymentToken
import SQLiteStore
import Testing
import Vocabulary

/// The use cases of merchant tokens over one store, with Apple in memory.
struct TokenBench: Sendable {
    enum Store: CaseIterable { case memory, sqlite }

    /// An address of one of Apple's servers.
    static let apple = "17.58.0.1"

    let clock: HandMovedClock
    let gateway: ScriptedMerchantTokenGateway
    let repository: any MerchantRepository
    let operations: Operations
    let request = Request(caller: Bench.caller, requestId: "r-1")
    private let scratch: Scratch?

    /// Starts with one platform integrator and one merchant.
    init(
        _ store: Store = .memory, gateway: ScriptedMerchantTokenGateway = ScriptedMerchantTokenGateway(),
        policy: MerchantTokenPolicy = MerchantTokenPolicy(), clock: HandMovedClock = HandMovedClock(),
        custodian: (any KeyCustodian)? = nil, tokenRoots: [TrustRoot]? = nil
    ) async throws {
        var scratch: Scratch?
        var repository: any MerchantRepository = MemoryRepository()
        if store == .sqlite {
            let directory = try Scratch()
            scratch = directory
            repository = try SQLiteStore.open(path: directory.directory + "/merchants.sqlite")
        }
        self.init(
            repository, gateway: gateway, policy: policy, clock: clock, custodian: custodian, tokenRoots: tokenRoots,
            scratch: scratch)
        for merchant in [Bench.integrator, Bench.shop] {
            _ = try await operations.merchants.addMerchant(
                merchant, name: nil, targetActiveKeyPairs: nil, for: request)
        }
    }

    /// A daemon that has just started on an existing store.
    ///
    /// - Parameter scratch: the directory of the store, which is removed with this value.
    init(
        _ repository: any MerchantRepository, gateway: ScriptedMerchantTokenGateway,
        policy: MerchantTokenPolicy = MerchantTokenPolicy(), clock: HandMovedClock,
        custodian: (any KeyCustodian)? = nil, tokenRoots: [TrustRoot]? = nil, scratch: Scratch? = nil
    ) {
        self.repository = repository
        self.gateway = gateway
        self.clock = clock
        self.scratch = scratch
        operations = Operations(
            repository: repository, custodian: custodian ?? FakeCustodian(clock: clock), clock: clock,
            tokenRoots: tokenRoots, merchantTokenGateway: gateway, merchantTokens: policy)
    }

    @discardableResult
    func notify(
        _ event: String, secret: String? = nil, from source: String = apple
    ) async throws -> TokenNotificationIntake.Result {
        try await operations.tokenNotifications.receive(event, secret: secret, from: source)
    }

    /// Fetches up to 100 events that are due, and returns the outcomes.
    @discardableResult
    func fetchDue() async throws -> [TokenEventFetching.Outcome] {
        var outcomes: [TokenEventFetching.Outcome] = []
        for notification in try await operations.tokenEvents.next(limit: 100) {
            outcomes.append(try await operations.tokenEvents.fetch(notification, as: Bench.caller))
        }
        return outcomes
    }

    func notification(
        _ event: String, of merchant: MerchantIdentifier = Bench.integrator
    ) async throws -> TokenNotification? {
        try await repository.read { try $0.tokenNotification(eventName(event), of: merchant) }
    }

    func token(_ name: String) async throws -> MerchantToken? {
        try await repository.read { try $0.merchantToken(tokenName(name)) }
    }

    /// Gives the merchant an active key pair: in the state `standby`, with a certificate.
    @discardableResult
    func addKeyPair(
        of merchant: MerchantIdentifier, purpose: KeyPurpose = .paymentProcessing
    ) async throws -> PublicKeyHash {
        var keyPair = try await operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: purpose, for: request
        ).keyPair
        keyPair.state = .standby
        let (active, now) = (keyPair, clock.now)
        try await repository.write { transaction in
            try transaction.update(active)
            _ = try transaction.insert(
                StoredCertificate(
                    der: [1], fingerprint: active.publicKeyHash.bytes, serialNumber: "1", subject: "", issuer: "",
                    notBefore: now, notAfter: now.adding(.seconds(86_400)), issuerVerified: true, storedAt: now),
                of: active.publicKeyHash)
        }
        return active.publicKeyHash
    }

    /// The stored events about merchant tokens, in the order of their sequences.
    func events() async throws -> [Event] {
        try await repository.read {
            try $0.events(after: nil, merchant: nil, limit: 100_000).map(\.event).filter { $0.merchantToken != nil }
        }
    }

    func actions() async throws -> [AuditAction] {
        try await repository.read {
            try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 10_000).reversed().map(\.entry.action)
        }
    }
}

func eventName(_ text: String) -> MerchantTokenEventIdentifier {
    guard let identifier = MerchantTokenEventIdentifier(text: text) else {
        preconditionFailure("not an event: \(text)")
    }
    return identifier
}

func tokenName(_ text: String) -> MerchantTokenIdentifier {
    guard let identifier = MerchantTokenIdentifier(text: text) else { preconditionFailure("not a token: \(text)") }
    return identifier
}
