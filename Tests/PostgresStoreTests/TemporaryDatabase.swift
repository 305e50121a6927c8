import MerchantCore
import MerchantTestSupport
import PostgresStore
import Vocabulary

/// A database on a PostgreSQL server of the test process. It is dropped when this value is released.
final class TemporaryDatabase: Sendable {
    let server: PostgresServer
    let name: String
    /// Whether a store refuses the server unless its commits are durable.
    private let durability: Durability

    /// A database with the schema.
    convenience init() throws { try self.init(copying: try Self.template.get()) }

    /// A database without any table.
    static func empty() throws -> TemporaryDatabase { try TemporaryDatabase(copying: "template1") }

    private init(copying template: String) throws {
        server = try PostgresServer.shared.get()
        name = try server.createDatabase(from: template)
        durability = .notRequired
    }

    /// The name of a database with the schema, which lives as long as the server.
    private static let template = Result {
        let server = try PostgresServer.shared.get()
        let name = try server.createDatabase()
        _ = try PostgresDatabase(
            ConnectionSettings(server.connection(to: name), limits: limits), clock: SystemClock(),
            durability: .notRequired)
        return name
    }

    /// A database without any table on another server, whose commits must be durable.
    init(on server: PostgresServer) throws {
        self.server = server
        name = try server.createDatabase()
        durability = .required
    }

    deinit { try? server.dropDatabase(name) }

    static var limits: ConnectionSettings.Limits {
        var limits = ConnectionSettings.Limits()
        limits.readers = 2
        // Many tests share few processors, so a statement can take long.
        limits.waiting = .seconds(60)
        limits.statement = .seconds(60)
        limits.lock = .seconds(60)
        limits.idleWrite = .seconds(60)
        return limits
    }

    func settings(_ limits: ConnectionSettings.Limits = limits, options: String = "") throws -> ConnectionSettings {
        try ConnectionSettings("\(server.connection(to: name)) \(options)", limits: limits)
    }

    func open(
        _ limits: ConnectionSettings.Limits = limits, options: String = "", durability: Durability? = nil,
        migrations: [(name: String, sql: String)]? = nil
    ) throws -> PostgresDatabase {
        let settings = try settings(limits, options: options)
        guard let migrations else {
            return try PostgresDatabase(settings, clock: SystemClock(), durability: durability ?? self.durability)
        }
        return try PostgresDatabase(
            settings, clock: SystemClock(), durability: durability ?? self.durability, migrations: migrations)
    }

    /// A store with one data key.
    func store(
        _ limits: ConnectionSettings.Limits = limits, options: String = "",
        observers: StoreObservers = StoreObservers()
    ) throws -> PostgresStore {
        let store = PostgresStore(try open(limits, options: options), clock: SystemClock(), observers: observers)
        if try store.dataKeys().isEmpty { try store.insert(Sample.dataKey) }
        return store
    }

    @discardableResult
    func execute(_ sql: String) throws -> String {
        try server.execute("SET search_path = merchantkeyd;\n\(sql)", in: name)
    }

    /// - Returns: the error message of a statement that `psql` runs; nil if the statement succeeds.
    func message(_ sql: String) throws -> String? {
        do {
            try execute(sql)
            return nil
        } catch let failure as ChildProcess.Failure { return failure.outcome.error }
    }
}

/// Values to store. Where a function takes a number, different numbers give different values.
enum Sample {
    static let time = Timestamp(millisecondsSince1970: 1_780_000_000_000)
    static let caller = Caller(uid: 1000, gid: 1000, pid: 42, program: "test")
    static let dataKey = SealedDataKey(identifier: 1, bytes: [1, 2, 3], masterKeyCheck: [4, 5, 6], createdAt: time)

    /// Inserts a key pair that violates a constraint of the schema: it is sealed under a data key that does not exist.
    static func insertWithUnknownDataKey(_ number: Int, in transaction: any RepositoryWriting) throws {
        let keyPair = keyPair(number, of: number)
        try transaction.insert(keyPair, new(keyPair, dataKey: 99))
    }

    static func merchant(_ number: Int) -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier("merchant.com.example.shop\(number)") else {
            preconditionFailure("letters, digits and dots are a valid identifier")
        }
        return identifier
    }

    static func record(_ number: Int) -> Merchant {
        Merchant(identifier: merchant(number), name: "Shop", createdAt: time)
    }

    static func hash(_ number: Int) -> PublicKeyHash { PublicKeyHash(of: Array("key \(number)".utf8)) }

    static func keyPair(_ number: Int, of merchant: Int = 0, _ state: KeyState = .pending) -> KeyPair {
        KeyPair(
            publicKeyHash: hash(number), merchantIdentifier: Sample.merchant(merchant), algorithm: .ecV1,
            purpose: .paymentProcessing, origin: .generated, state: state, createdAt: time, stateSince: time)
    }

    static func new(_ keyPair: KeyPair, dataKey: Int = 1) -> NewKeyPair {
        NewKeyPair(
            publicKeyHash: keyPair.publicKeyHash, algorithm: keyPair.algorithm, purpose: keyPair.purpose,
            subjectPublicKeyInfo: [1, 2], certificateSigningRequest: [3, 4],
            sealedPrivateKey: SealedPrivateKey(version: 1, dataKeyIdentifier: dataKey, bytes: [5, 6, 7]))
    }

    static func certificate(_ number: Int) -> StoredCertificate {
        let der = Array("certificate \(number)".utf8)
        return StoredCertificate(
            der: der, fingerprint: PublicKeyHash(of: der).bytes, serialNumber: "0\(number)", subject: "CN=Shop",
            issuer: "CN=Issuer", notBefore: time, notAfter: time.adding(.seconds(1000)), issuerVerified: true,
            storedAt: time)
    }

    static func entry(_ merchant: Int, reason: String? = nil) -> AuditEntry {
        AuditEntry(
            .merchantAdded, by: caller, at: time, merchant: Sample.merchant(merchant), key: nil, before: nil,
            after: nil, reason: reason, requestId: "r")
    }
}

/// The `MerchantError` that `body` throws; nil for another error or none.
func refusal(_ body: () async throws -> Void) async -> MerchantError? {
    do {
        try await body()
        return nil
    } catch { return error as? MerchantError }
}

/// As ``refusal(_:)``, for a function that does not suspend.
func synchronousRefusal(_ body: () throws -> Void) -> MerchantError? {
    do {
        try body()
        return nil
    } catch { return error as? MerchantError }
}
