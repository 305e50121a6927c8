import AppleGateway
import Foundation
import KeyCustody
import Logging
import MerchantCore
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// One hierarchy for every test, since making RSA keys is slow, and identities that it issued.
final class Bench: Sendable {
    static let shared = Result { try Bench() }
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("platformintegrator.com.example")!  // in the required form

    let scratch: Scratch
    let authority: SandboxAuthority

    /// The shared directory: a static value has no end, so the process's end removes it.
    private static let leftover = Guarded("")

    private init() throws {
        scratch = try Scratch()
        Self.leftover.value = scratch.directory
        atexit { try? FileManager.default.removeItem(atPath: Bench.leftover.value) }
        authority = try SandboxAuthority(createdAt: .now)
        try scratch.write(authority.rootCertificate, "root.pem")
        try scratch.write(authority.rootCertificate + authority.identityIssuerCertificate, "clients.pem")
        for (name, days) in [("good", 0...760), ("other", 0...760), ("expired", -800...(-40))] {
            try identity(name, valid: days)
        }
        let server = try authority.issueServerCredentials(
            names: ["localhost", "127.0.0.1"].compactMap(SandboxServerName.init), notBefore: Self.day(-1))
        try scratch.write(server.certificate, "server.pem")
        try scratch.write(server.privateKey, "server.key")
        // Of nobody's CA.
        try scratch.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=stranger", "-keyout",
            scratch.path("stranger.key"), "-out", scratch.path("stranger.pem"), "-days", "10")
    }

    static func day(_ days: Int) -> Timestamp { Timestamp.now.adding(.seconds(days * 86_400)) }

    /// Leaves `NAME.key` and `NAME.pem`.
    private func identity(_ name: String, valid days: ClosedRange<Int>) throws {
        try scratch.openssl(
            "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", scratch.path("\(name).key"),
            "-out", scratch.path("\(name).csr"))
        let der = try authority.issue(
            csr: scratch.bytes("\(name).csr"), merchant: Self.merchant, purpose: .identity,
            notBefore: Self.day(days.lowerBound), notAfter: Self.day(days.upperBound))
        try scratch.write(pem(der), "\(name).pem")
    }

    func pem(_ der: [UInt8]) -> String {
        let lines = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }

    func location(_ name: String) -> IdentityFiles.Location {
        .init(certificate: scratch.path("\(name).pem"), privateKey: scratch.path("\(name).key"), passphrase: nil)
    }

    func files(_ name: String) throws -> IdentityFiles { try IdentityFiles(location(name)) }

    func roots() throws -> TrustRoots { try TrustRoots(pem: scratch.bytes("root.pem")) }

    func transport(connect: Duration = .seconds(5), limits: SecureTransport.Limits = .init()) throws -> SecureTransport
    {
        SecureTransport(roots: try roots(), connectTimeout: connect, limits: limits)
    }

    /// A gateway that does not sleep: what it would have waited is in `waits`.
    func gateway(
        _ url: String, _ identities: any IdentitySource, roots: TrustRoots? = nil, attempts: Int = 1,
        clock: any WallClock = SystemClock(), answerTimeout: Duration = .seconds(5), waits: Guarded<[Duration]>? = nil
    ) throws -> AppleGateway {
        var settings = AppleGateway.Settings(endpoint: try GatewayEndpoint(url))
        settings.answerTimeout = answerTimeout
        settings.retries.attempts = attempts
        let transport = SecureTransport(roots: try roots ?? self.roots(), connectTimeout: .seconds(5))
        return AppleGateway(
            settings: settings, transport: transport, identities: identities, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { duration in
            waits?.update { $0.append(duration) }
            (clock as? HandMovedClock)?.advance(by: duration)
        }
    }
}

/// A fixed answer to the question of who we are.
struct GivenIdentity: IdentitySource {
    let answer: Result<ClientIdentity, IdentityError>

    func identity(at moment: Timestamp) throws(IdentityError) -> ClientIdentity { try answer.get() }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(Date()) }
}

extension GatewayRegistration {
    static func sample(_ partner: String = "shop-1", _ domains: [String] = ["shop.example.com"]) throws -> Self {
        GatewayRegistration(
            partnerInternalMerchantIdentifier: try #require(PartnerInternalMerchantIdentifier(partner)),
            partnerMerchantName: "Größe & Söhne / \"Shop\"", domainNames: try domains.map { try .sample($0) },
            encryptTo: Bench.merchant, merchantUrl: nil)
    }
}

extension DomainName {
    static func sample(_ text: String) throws -> DomainName { try #require(DomainName(ascii: text)) }
}

/// Runs a gateway for the length of one test.
func withGateway<Outcome>(
    _ gateway: AppleGateway, _ body: (AppleGateway) async throws -> Outcome
) async throws -> Outcome {
    let outcome: Result<Outcome, any Error>
    do { outcome = .success(try await body(gateway)) } catch { outcome = .failure(error) }
    await gateway.shutdown()
    return try outcome.get()
}

/// The error that a call ends with; nil where it ends with none.
func failure(_ body: () async throws(GatewayError) -> Void) async -> GatewayError? {
    do throws(GatewayError) {
        try await body()
        return nil
    } catch { return error }
}
