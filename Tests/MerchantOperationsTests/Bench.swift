import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// The use cases with a ``ScriptedGateway`` and, by default, a store in memory.
struct Bench: Sendable {
    // swift-format-ignore: NeverForceUnwrap
    static let integrator = MerchantIdentifier("platformintegrator.com.example")!
    static let caller = Caller(uid: 1000, gid: 1000, pid: 42, program: "test")

    let clock = HandMovedClock()
    let gateway: ScriptedGateway
    let repository: any MerchantRepository
    let operations: Operations
    let request = Request(caller: caller, requestId: "r-1")

    /// Starts with the platform's integrator identifier as a merchant, without keys.
    init(
        gateway: ScriptedGateway = ScriptedGateway(), repository: any MerchantRepository = MemoryRepository()
    ) async throws {
        self.gateway = gateway
        self.repository = repository
        operations = Operations(
            repository: repository, custodian: FakeCustodian(clock: clock), claims: MemoryClaimLedger(), clock: clock,
            environment: .sandbox,
            gateway: gateway)
        _ = try await operations.merchants.addMerchant(
            Self.integrator, name: nil, targetActiveKeyPairs: nil, for: request)
    }

    @discardableResult
    func register(
        _ partner: String, _ domains: [String], name: String? = "Shop", encryptTo: MerchantIdentifier? = nil,
        url: String? = nil, merchant: MerchantIdentifier? = nil
    ) async throws -> RegistrationView {
        try await operations.registrations.register(
            RequestedRegistration(
                partnerInternalMerchantIdentifier: partnerName(partner), partnerMerchantName: name,
                domainNames: domainNames(domains), encryptTo: encryptTo, merchantUrl: url,
                merchantIdentifier: merchant), for: request)
    }

    @discardableResult
    func unregister(
        _ partner: String, _ domains: [String]? = nil, dryRun: Bool = false
    ) async throws -> UnregistrationResult {
        try await operations.registrations.unregister(
            partnerName(partner), domainNames: domains.map(domainNames), reason: "closed", dryRun: dryRun,
            for: request)
    }

    func sync(repair: Bool = false) async throws -> SyncReport {
        try await operations.registrationSync.sync(after: nil, limit: 1000, repair: repair, for: request)
    }

    /// The domains of the partner in Apple's record; nil if Apple has no record of the partner.
    func atApple(_ partner: String) -> Set<String>? {
        gateway.records[partnerName(partner)].map { Set($0.domains.map(\.rawValue)) }
    }

    /// The domains of the partner that should be registered, as the daemon has stored them.
    func wanted(_ partner: String) async throws -> Set<String> {
        try await repository.read { reading in
            Set((try reading.registration(partnerName(partner))?.desired.domainNames ?? []).map(\.rawValue))
        }
    }

    /// All audit records, the oldest first.
    func audited() async throws -> [AuditEntry] {
        try await repository.read {
            try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 10_000).reversed().map(\.entry)
        }
    }
}

func partnerName(_ text: String) -> PartnerInternalMerchantIdentifier {
    guard let partner = PartnerInternalMerchantIdentifier(text) else {
        preconditionFailure("not an identifier: \(text)")
    }
    return partner
}

func domainNames(_ texts: [String]) -> [DomainName] {
    texts.map { text in
        guard let name = DomainName(ascii: text) else { preconditionFailure("not a domain name: \(text)") }
        return name
    }
}

/// The ``MerchantError`` that `body` throws; nil if it throws none.
func refusal(_ body: () async throws -> Void) async -> MerchantError? {
    do {
        try await body()
        return nil
    } catch { return error as? MerchantError }
}
