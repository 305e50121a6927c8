import Crypto
import DecryptorServer
import FoundationEssentials
import Glibc
import HTTPKit
import LocalSocket
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import NIOPosix
import PaymentToken
import SandboxKit
import ServiceLifecycle
import Synchronization
import Testing
import Vocabulary
import WireAPI

/// A server of a decryptor socket, by default in its own directory, with a store and a custodian in memory.
final class DecryptorTestServer: Sendable {
    static let merchant = identifier("merchant.com.example.shop")
    static let otherMerchant = identifier("merchant.com.example.other")
    /// A large document, like the real one.
    static let openAPI = Array("openapi: 3.1.0\n# ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)

    /// Signs tokens as Apple would.
    static let apple: SandboxAuthority = {
        do { return try SandboxAuthority(createdAt: HandClock().now) } catch { preconditionFailure("\(error)") }
    }()

    let store: FakeStore
    let claims = MemoryClaimLedger()
    let operations: Operations
    let custodian = FakeCustodian()
    let sessionGateway = RecordingSessionGateway()
    let clock = HandClock()
    let responses: KeyResponseCache
    let requests = RequestMetrics()
    let isReady = Mutex(true)
    let socketPath: String
    private let directory: String
    /// Clients block; they must not block the threads that the server's tasks run on.
    private static let threads = {
        let pool = NIOThreadPool(numberOfThreads: 16)
        pool.start()
        return pool
    }()

    /// - Parameter lease: the lease of the cache of responses.
    init(merchantTokens: MerchantTokenPolicy = MerchantTokenPolicy(), lease: Lease = .unlimited) {
        responses = KeyResponseCache(lease: lease)
        var template = Array("/tmp/decryptor-test-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { text in
            text.baseAddress.map { mkdtemp($0) != nil } ?? false
        }
        precondition(made, "a temporary directory can be made")
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        socketPath = directory + "/decryptor.sock"
        let roots: [TrustRoot]
        do { roots = try TrustRoot.reading(pem: Self.apple.rootCertificate) } catch { preconditionFailure("\(error)") }
        store = FakeStore(observers: StoreObservers(keys: [responses]))
        operations = Operations(
            repository: store, custodian: custodian, claims: claims, clock: clock, environment: .sandbox,
            tokenRoots: roots, merchantTokens: merchantTokens,
            sessions: SessionOperations.Ports(
                gateway: sessionGateway,
                policy: CurrentValue(SessionPolicy(validationHosts: SessionHost.appleHosts(.sandbox)))))
    }

    deinit { rmdir(directory) }

    static func identifier(_ text: String) -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier(text) else { preconditionFailure("not an identifier: \(text)") }
        return identifier
    }

    static func policy(_ permits: Set<Permit> = Set(Permit.allCases), merchants: Set<MerchantIdentifier>? = nil)
        -> CallerPolicy
    {
        CallerPolicy(rules: [.init(subject: .uid(getuid()), grant: Grant(permits: permits, merchants: merchants))])
    }

    /// Serves while the body runs, then shuts down gracefully.
    ///
    /// - Parameter socket: nil for a socket that the server creates at ``socketPath``.
    func serve(
        limits: Limits = Limits(), policy: CallerPolicy = DecryptorTestServer.policy(), socket: SocketSource? = nil,
        _ body: (ServiceGroup) async throws -> Void
    ) async throws {
        try await serve(limits: limits, policy: CurrentValue(policy), socket: socket, body)
    }

    /// Serves with permits that the body may change.
    func serve(
        limits: Limits = Limits(), policy: CurrentValue<CallerPolicy>, socket: SocketSource? = nil,
        _ body: (ServiceGroup) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let socket = socket ?? SocketSource(path: socketPath, mode: 0o660)
        let server = DecryptorServer(
            socket: socket,
            operations: operations.paymentTokens, sessions: operations.merchantSessions,
            mpans: operations.mpans, refusals: operations.refusals, integrity: operations.integrity, policy: policy,
            health: { [self] in
                let ready = isReady.withLock { $0 }
                return HealthDocument(reasons: ready ? [] : ["the store does not answer"])
            }, openAPI: Self.openAPI, responses: responses, requests: requests, limits: limits, logger: logger)
        let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: logger))
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await group.run() }
            while access(socket.path, F_OK) != 0 { try await Task.sleep(for: .milliseconds(2)) }
            do { try await body(group) } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Runs a client on a thread that may block.
    func client<Value: Sendable>(_ body: @escaping @Sendable (SocketClient) throws -> Value) async throws -> Value {
        let path = socketPath
        return try await Self.threads.runIfActive { try body(SocketClient(path)) }
    }

    private static let documented = Result { try DocumentedResponses(of: "decryptor") }

    /// Sends one request on its own connection. Fails the test unless the contract lists the response.
    func ask(_ method: String, _ target: String, _ body: String? = nil) async throws -> SocketClient.Reply {
        let reply = try await client { try $0.ask(method, target, body) }
        let difference = try Self.documented.get().difference(
            method, target, status: reply.status, body: Data(reply.body))
        #expect(difference == nil)
        return reply
    }

    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Self.threads.runIfActive(body)
    }

    // MARK: Keys

    /// Adds a key pair. Unless it is pending, it gets a certificate that is valid for a year, from a day ago.
    @discardableResult
    func addKey(
        _ state: KeyState = .current, purpose: KeyPurpose = .paymentProcessing,
        algorithm: KeyAlgorithm = .ecV1, of merchant: MerchantIdentifier = DecryptorTestServer.merchant,
        key: P256.KeyAgreement.PrivateKey = .init()
    ) -> PublicKeyHash {
        let hash = custodian.add(key, of: merchant)
        let now = clock.now
        store.put(
            KeyPair(
                publicKeyHash: hash, merchantIdentifier: merchant, algorithm: algorithm, purpose: purpose,
                origin: .generated, state: state, createdAt: now, stateSince: now),
            state == .pending ? [] : [certificate(from: now.adding(.seconds(-86_400)), marker: 1)])
        return hash
    }

    /// Returns a certificate whose bytes are as many as those of a real one, but arbitrary.
    ///
    /// - Parameter validity: for how long the certificate is valid; a year by default.
    func certificate(
        from notBefore: Timestamp, for validity: Duration = .seconds(365 * 86_400), marker: UInt8
    ) -> StoredCertificate {
        StoredCertificate(
            der: (0..<1000).map { UInt8(truncatingIfNeeded: $0) ^ marker }, fingerprint: [marker], serialNumber: "01",
            subject: "CN=shop", issuer: "CN=test", notBefore: notBefore,
            notAfter: notBefore.adding(validity), issuerVerified: false, storedAt: clock.now)
    }
}

/// An EC_v1 token encrypted to a given key. Its signature is invalid unless a signing time is given.
struct MintedToken {
    static let plaintext =
        #"{"applicationPrimaryAccountNumber":"4817499130210000","applicationExpirationDate":"281231","currencyCode":"840","transactionAmount":1099,"deviceManufacturerIdentifier":"040010030273","paymentDataType":"3DSecure","paymentData":{"onlinePaymentCryptogram":"AAAAAAAAAAAAAAAAAAAAAAAAAAA="}, "later": [1.0, 2]}"#

    var paymentData: String

    /// - Parameter payment: the value of each byte of the transactionId.
    init(
        to key: P256.KeyAgreement.PublicKey, of merchant: MerchantIdentifier = DecryptorTestServer.merchant,
        plaintext: String = Self.plaintext, applicationData: String? = nil, payment: UInt8 = 0xab,
        signedAt: Timestamp? = nil
    ) throws {
        let ephemeral = P256.KeyAgreement.PrivateKey()
        let symmetricKey = try SymmetricKeyDerivation.symmetricKey(
            sharedSecret: ephemeral.sharedSecretFromKeyAgreement(with: key), merchantIdentifier: merchant.rawValue)
        let box = try AES.GCM.seal(
            Data(plaintext.utf8), using: symmetricKey, nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
        let hash = PublicKeyHash(of: key.derRepresentation)
        let ephemeralKey = ephemeral.publicKey.derRepresentation
        let data = box.ciphertext + box.tag
        let transactionId = [UInt8](repeating: payment, count: 32)
        let applicationHash = applicationData.map { Array(SHA256.hash(data: Data($0.utf8))) }
        let application = applicationHash.map { #","applicationData":"\#(Hex.encode($0))""# }
        let signature =
            try signedAt.map {
                try DecryptorTestServer.apple.signature(
                    over: Array(ephemeralKey) + Array(data) + transactionId + (applicationHash ?? []),
                    algorithm: .ecV1, signingTime: $0)
            } ?? [UInt8](repeating: 7, count: 80)
        paymentData =
            #"{"version":"EC_v1","data":"\#(data.base64EncodedString())","signature":"\#(Data(signature).base64EncodedString())","header":{"ephemeralPublicKey":"\#(ephemeralKey.base64EncodedString())","publicKeyHash":"\#(hash.base64)","transactionId":"\#(Hex.encode(transactionId))"\#(application ?? "")},"appleMayAdd":1}"#
    }

    func request(expected: String = #"{"merchantIdentifier":"any"}"#, _ more: String = #","verify":false"#) -> String {
        #"{"paymentData":\#(paymentData),"expected":\#(expected)\#(more)}"#
    }
}
