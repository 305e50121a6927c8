import Crypto
import Foundation
import Glibc
import HTTPKit
import IssuerServer
import LocalSocket
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import PassProvisioning
import SandboxKit
import ServiceLifecycle
import Testing
import Vocabulary
import WireAPI

/// A real server on a real Unix socket in its own directory. It runs during ``run(ready:_:)``. The sandbox issues the
/// certificates.
final class TestIssuer: Sendable {
    static let openAPI = Array("openapi: 3.1.0\n".utf8)
    static let cardNumber = "5204740009900014"
    static let cardholder = "Jo Example-Cardholder"
    private static let documented = Result { try DocumentedResponses(of: "issuer") }

    let clock = HandMovedClock()
    let repository = MemoryRepository()
    let nonces = MemoryNonceLedger()
    let activation = ScriptedActivation()
    let log = LogLines()
    let requests = RequestMetrics()
    let operations: Operations
    /// The setting `provisioning`, which tests change as a reload does.
    let policy: Guarded<ProvisioningPolicy>
    /// Signals a change of ``policy``.
    let changes = ChangeSignal()
    let credentials: SandboxAuthority.ProvisioningCredentials
    private let scratch: Scratch
    private let callers: CallerPolicy

    var socket: String { scratch.path("issuer.sock") }

    init(
        callers: CallerPolicy = TestIssuer.callers([.provision]), fault: ProvisioningCertificateFault? = nil
    ) throws {
        scratch = try Scratch()
        self.callers = callers
        let authority = try SandboxAuthority(createdAt: clock.now)
        credentials = try authority.issueProvisioningCredentials(
            notBefore: clock.now.adding(.seconds(-3_600)), fault: fault)
        let pem = try authority.rootCertificate
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let root = try #require(Data(base64Encoded: base64))
        let policy = Guarded(
            ProvisioningPolicy(isEnabled: true, trust: try ProvisioningTrust(roots: [root], environment: .sandbox)))
        self.policy = policy
        operations = Operations(
            repository: repository, custodian: FakeCustodian(clock: clock), clock: clock,
            provisioning: ProvisioningOperations.Ports(
                policy: CurrentValue(changedBy: changes) { policy.value }, nonces: nonces, activation: activation))
    }

    static func callers(_ permits: Set<Permit>, merchants: Set<MerchantIdentifier>? = nil) -> CallerPolicy {
        CallerPolicy(rules: [.init(subject: .uid(getuid()), grant: Grant(permits: permits, merchants: merchants))])
    }

    func run(ready: Bool = true, _ body: @escaping @Sendable (TestIssuer) async throws -> Void) async throws {
        let provisioning = try #require(operations.provisioning)
        let server = IssuerServer(
            socket: SocketSource(path: socket, mode: 0o600), operations: provisioning, refusals: operations.refusals,
            integrity: operations.integrity, policy: CurrentValue(callers),
            health: { HealthDocument(reasons: ready ? [] : ["the clock jumped"]) }, openAPI: Self.openAPI,
            requests: requests, logger: log.logger, onListening: { [log] in log.append("test: listening") })
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                while !self.log.all.contains("test: listening") { try await Task.sleep(for: .milliseconds(2)) }
                let result: Result<Void, any Error>
                do { result = .success(try await body(self)) } catch { result = .failure(error) }
                await group.triggerGracefulShutdown()
                try result.get()
            }
            for try await _ in tasks {}
        }
    }

    // MARK: Requests

    /// The body of a valid request, changed by `change`.
    func body(
        nonce: String = "9c023092", activationData: String? = "T1RQLTEyMw==",
        _ change: (inout [String: any Sendable]) -> Void = { _ in }
    ) throws -> Data {
        let card: [String: any Sendable] = [
            "primaryAccountNumber": Self.cardNumber, "expiration": "12/49", "name": Self.cardholder,
            "productType": "MCD",
        ]
        var body: [String: any Sendable] = [
            "certificates": [credentials.leaf, credentials.subCA].map { Data($0).base64EncodedString() },
            "nonce": nonce, "nonceSignature": "40" + String(repeating: "5a", count: 80), "configuration": 1,
            "network": "Mastercard", "card": card,
        ]
        body["activationData"] = activationData
        change(&body)
        return try JSONSerialization.data(withJSONObject: body)
    }

    func encrypt(_ body: Data) async throws -> IssuerReply {
        try await curl("POST", Paths.provisioningRequests, body)
    }

    /// One request by the real curl, on a connection of its own. Fails the test unless the contract lists the response.
    func curl(_ method: String, _ path: String, _ body: Data? = nil) async throws -> IssuerReply {
        let url = "http://localhost\(path)"
        let command =
            ["curl", "--silent", "--max-time", "20", "--unix-socket", socket, "--request", method]
            + (body == nil ? [] : ["--data-binary", "@-"]) + ["--write-out", "\n%{http_code}", url]
        let output = try await Self.output(of: command, input: body ?? Data())
        let text = String(decoding: output, as: UTF8.self)
        let end = try #require(text.lastIndex(of: "\n"))
        let status = try #require(Int(text[text.index(after: end)...]))
        let reply = IssuerReply(status: status, text: String(text[..<end]))
        let difference = try Self.documented.get().difference(
            method, path, status: status, body: Data(reply.text.utf8))
        #expect(difference == nil)
        return reply
    }

    /// Waits on its own thread, because the server needs the threads of the concurrency pool.
    private static func output(of command: [String], input: Data) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try ChildProcess.output(of: command, input: input) })
            }
        }
    }

    // MARK: What the daemon keeps

    /// The plaintext of an encrypted card, as Apple decrypts it.
    func plaintext(_ reply: IssuerReply) throws -> String {
        let encrypted = try #require(Data(base64Encoded: reply.string("encryptedPassData") ?? ""))
        let point = try #require(Data(base64Encoded: reply.string("ephemeralPublicKey") ?? ""))
        let key = try P256.KeyAgreement.PrivateKey(pemRepresentation: credentials.privateKey)
        return try PassDecryption.withPlaintext(
            of: EncryptedPass(encryptedPassData: encrypted, ephemeralPublicKey: point), privateKey: key
        ) { String(decoding: $0, as: UTF8.self) }
    }

    func auditRecords() async throws -> [AuditEntry] {
        try await repository.read { reading in
            try reading.auditRecords(merchant: nil, key: nil, before: nil, limit: 100).map(\.entry)
        }
    }

    /// The count of an outcome in the metrics.
    func count(_ outcome: ProvisioningMetrics.Outcome) -> Int {
        var page = MetricsText()
        operations.provisioningMetrics.append(to: &page)
        let name = "merchantkeyd_provisioning_requests_total{outcome=\"\(outcome.rawValue)\"} "
        let line = page.text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.dropFirst(name.count)) } ?? -1
    }
}

/// The response that curl received.
struct IssuerReply: Sendable {
    let status: Int
    let text: String

    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
    }
    var code: String? { string("code") }
    /// The codes of `findings`, or of `warnings`.
    func codes(_ field: String) -> [String] {
        (json[field] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String }
    }
    func string(_ name: String) -> String? { json[name] as? String }
}

/// Returns the activation data that a test has set, and records the questions.
final class ScriptedActivation: ActivationDataSource {
    let questions = Guarded<[ActivationQuestion]>([])
    let result = Guarded<Result<[UInt8]?, MerchantError>>(.success(nil))

    func activationData(for question: ActivationQuestion) async throws -> [UInt8]? {
        questions.update { $0.append(question) }
        return try result.value.get()
    }
}

/// Captures all log lines as text, with their metadata.
final class LogLines: Sendable {
    private let lines = Guarded<[String]>([])

    var all: [String] { lines.value }

    func append(_ line: String) { lines.update { $0.append(line) } }

    var logger: Logger {
        var logger = Logger(label: "test") { [self] _ in Handler(lines: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.append((["\(event.level)", event.message.description] + pairs).joined(separator: " "))
        }
    }
}
