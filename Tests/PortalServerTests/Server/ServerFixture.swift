import Foundation
import HTTPKit
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import MetricsKit
import PortalServer
import RESTKit
import ServiceLifecycle
import Testing
import Vocabulary
import WireAPI

/// The whole portal on a free port of 127.0.0.1, with a store in memory. It runs while a closure runs.
struct ServerFixture: Sendable {
    static let operatorUID: UInt32 = 1000
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("merchant.com.example.shop")!
    static let merchantName = "Tea Shop"
    static let request = Request(caller: Caller(uid: 0, gid: 0, pid: 1, program: "test"), requestId: "test")

    /// The response that curl received.
    struct Reply: Sendable {
        let status: String
        let contentType: String
        let body: String
    }

    let port: Int
    let files: TestCertificates
    let operations: Operations
    let repository: MemoryRepository
    let clock: HandMovedClock
    let readLimits: ReadLimits

    static func run(
        rates: RequestRates.Limits = RequestRates.Limits(), limits: PortalLimits = PortalLimits(),
        notifications: TokenNotificationPolicy = TokenNotificationPolicy(), proxies: [AddressRange] = [],
        logger: Logger = Logger(label: "portal") { _ in SwiftLogNoOpLogHandler() },
        merchantTokens: MerchantTokenPolicy = MerchantTokenPolicy(),
        domainChecker: any DomainChecker = FakeDomainChecker(), sessions: SessionOperations.Ports? = nil,
        _ body: @escaping @Sendable (ServerFixture) async throws -> Void
    ) async throws {
        let files = try TestCertificates()
        let clock = HandMovedClock()
        let repository = MemoryRepository()
        let operations = Operations(
            repository: repository, custodian: FakeCustodian(clock: clock), clock: clock,
            merchantTokens: merchantTokens, domainChecker: domainChecker, sessions: sessions)
        _ = try await operations.merchants.addMerchant(
            merchant, name: merchantName, targetActiveKeyPairs: nil, for: request)
        let address = PortalAddress { "https://127.0.0.1:\($0)" }
        let grant = Grant(permits: [.read, .onboard], merchants: nil)
        let readLimits = ReadLimits()
        let server = try PortalServer(
            settings: PortalListenerSettings(
                listen: try #require(ListenAddress(text: "127.0.0.1:0")), trustedProxies: TrustedProxies(proxies),
                limits: limits),
            rates: rates, notifications: notifications,
            certificates: try PortalCertificates(files.settings(), now: { Timestamp(Date()) }, logger: logger),
            operations: PortalOperations(from: operations), environment: .sandbox,
            policy: CurrentValue(CallerPolicy(rules: [.init(subject: .uid(operatorUID), grant: grant)])),
            address: address,
            health: { HealthDocument(reasons: []) }, openAPI: [], requests: RequestMetrics(), readLimits: readLimits,
            logger: logger, now: { clock.now })
        let group = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                while address.url == nil { try await Task.sleep(for: .milliseconds(2)) }
                let result: Result<Void, any Error>
                do {
                    let port = try #require(address.url.flatMap { URL(string: $0)?.port })
                    try await body(
                        ServerFixture(
                            port: port, files: files, operations: operations, repository: repository, clock: clock,
                            readLimits: readLimits))
                    result = .success(())
                } catch { result = .failure(error) }
                await group.triggerGracefulShutdown()
                try result.get()
            }
            for try await _ in tasks {}
        }
    }

    // MARK: Sessions

    /// - Returns: the header field `Cookie` of an operator's session.
    func signInOperator() async throws -> String {
        let sessions = operations.portalSessions
        let login = try await sessions.createLogin(uid: Self.operatorUID, groups: [], for: Self.request).secret
        let secret = try await sessions.begin(login: login.text, address: "192.0.2.7", requestId: "test").secret
        return Self.cookie(secret)
    }

    /// - Returns: the header field `Cookie` of a session that began with an invitation to the merchant.
    func signInMerchant() async throws -> String {
        let invitation = try await operations.invitations.create(
            for: Self.merchant, expiresAt: nil, note: nil, for: Self.request
        ).secret
        let secret = try await operations.portalSessions.begin(
            invitation: invitation.text, address: "192.0.2.7", requestId: "test"
        ).secret
        return Self.cookie(secret)
    }

    /// - Parameter kind: `invitation` or `login`.
    /// - Returns: the path of a new link, which nobody has used.
    func signInPath(_ kind: PortalSecret.Kind) async throws -> String {
        if kind == .login {
            let login = try await operations.portalSessions.createLogin(
                uid: Self.operatorUID, groups: [], for: Self.request)
            return "/login/\(login.secret.text)"
        }
        let invitation = try await operations.invitations.create(
            for: Self.merchant, expiresAt: nil, note: nil, for: Self.request)
        return "/invitations/\(invitation.secret.text)"
    }

    /// Abandons the merchant's roll and revokes its pending key pairs, so that the onboarding begins again.
    func revokeKey() async throws {
        let rolls = try await operations.rolls.rolls(of: Self.merchant, state: nil, before: nil, limit: 1)
        let roll = try #require(rolls.first).roll.number
        _ = try await operations.rolls.abandonRoll(roll, reason: nil, dryRun: false, for: Self.request)
        for key in try await operations.keys.keyPairs(of: Self.merchant) where key.keyPair.state == .pending {
            _ = try await operations.transitions.revoke(
                key.keyPair.publicKeyHash, reason: "test", dryRun: false, for: Self.request)
        }
    }

    func endOperatorSessions() async throws {
        _ = try await operations.portalSessions.endOperatorSessions(of: Self.operatorUID, for: Self.request)
    }

    private static func cookie(_ secret: PortalSecret) -> String { "Cookie: __Host-merchantkeyd=\(secret.text)" }

    // MARK: Clients

    private static let documented = Result { try DocumentedResponses(of: "portal") }

    /// Sends a `GET`, unless an argument of curl sets another method. Without arguments, the test fails if the contract
    /// does not list the response.
    ///
    /// - Parameter headers: such as `Cookie: …`.
    func curl(_ path: String, headers: [String] = [], _ arguments: [String] = []) async throws -> Reply {
        let outcome = try await TestCommand.run(command(path, headers, arguments))
        try #require(outcome.status == 0, "\(outcome.error)")
        let parts = outcome.output.components(separatedBy: "\n--end--")
        let status = try #require(Int(parts[1].prefix(3)))
        if arguments.isEmpty {
            let difference = try Self.documented.get().difference(
                "GET", path, status: status, body: Data(parts[0].utf8))
            #expect(difference == nil)
        }
        return Reply(
            status: String(parts[1].prefix(3)), contentType: String(parts[1].dropFirst(4)), body: parts[0])
    }

    /// Sends a form of a page, as a browser does.
    ///
    /// - Parameters:
    ///   - page: the path of the page with the form.
    ///   - fields: such as `domain=shop.example`.
    ///   - cookie: the header field of the session, as ``signInMerchant()`` or ``signInOperator()`` returns it.
    ///   - options: further options of curl.
    func form(
        _ path: String, of page: String, _ fields: [String], cookie: String, _ options: [String] = []
    ) async throws -> Reply {
        let shown = try await curl(page, headers: [cookie])
        let token = try #require(shown.body.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)?.1)
        let arguments = options + (["csrf=\(token)"] + fields).flatMap { ["--data-urlencode", $0] }
        return try await curl(path, headers: [cookie, "Origin: https://127.0.0.1:\(port)"], arguments)
    }

    /// Whether the portal does not respond within a second.
    func isWaiting(_ path: String, headers: [String]) async throws -> Bool {
        // curl's status 28 is a timeout.
        try await TestCommand.run(command(path, headers, ["--max-time", "1"])).status == 28
    }

    private func command(_ path: String, _ headers: [String], _ arguments: [String]) -> [String] {
        [
            "curl", "--silent", "--show-error", "--max-time", "20", "--cacert", files.path("server.pem"),
            "--write-out", "\n--end--%{http_code} %{content_type}",
        ] + headers.flatMap { ["--header", $0] } + arguments + ["https://127.0.0.1:\(port)\(path)"]
    }

    /// Runs a script in Python, after ``TestCommand/pythonClient``.
    func python(_ script: String) async throws -> String {
        try await TestCommand.output([
            "python3", "-c", TestCommand.pythonClient + script, String(port), files.path("server.pem"),
        ])
    }
}
