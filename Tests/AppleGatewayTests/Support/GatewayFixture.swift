import AppleGateway
import Foundation
import KeyCustody
import Logging
import MerchantCore
import MerchantTestSupport
import OutboundHTTP
import SandboxKit
import Testing
import Vocabulary

/// A certificate hierarchy, identities that it issued, and one that no CA issued. All tests share them, because
/// generating RSA keys is slow.
final class GatewayFixture: Sendable {
    static let shared = Result { try GatewayFixture() }
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("platformintegrator.com.example")!  // in the required form

    let scratch: Scratch
    let authority: SandboxAuthority

    /// The shared directory. A static value is never released, so the end of the process removes it.
    private static let leftover = Guarded("")

    private init() throws {
        scratch = try Scratch()
        Self.leftover.value = scratch.directory
        atexit { try? FileManager.default.removeItem(atPath: GatewayFixture.leftover.value) }
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
        // Not issued by a CA.
        try scratch.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=untrusted", "-keyout",
            scratch.path("untrusted.key"), "-out", scratch.path("untrusted.pem"), "-days", "10")
    }

    static func day(_ days: Int) -> Timestamp { Timestamp.now.adding(.seconds(days * 86_400)) }

    /// Writes the private key and the certificate of an identity to `NAME.key` and `NAME.pem`.
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

    func client(roots: TrustRoots? = nil, keptIdentities: Int = 64) throws -> OutboundClient {
        var configuration = OutboundClient.Configuration()
        configuration.keptIdentities = keptIdentities
        configuration.roots = try roots ?? self.roots()
        configuration.connectTimeout = .seconds(5)
        return OutboundClient(configuration)
    }

    /// A gateway that does not sleep: it appends its pauses to `waits`, and advances a ``HandMovedClock`` by them.
    func gateway(
        _ url: String, _ identities: any IdentitySource, roots: TrustRoots? = nil, attempts: Int = 1,
        clock: any WallClock = SystemClock(), responseTimeout: Duration = .seconds(5),
        waits: Guarded<[Duration]>? = nil,
        eventMethod: AppleGateway.EventMethod = .get
    ) throws -> AppleGateway {
        var settings = AppleGateway.Settings(endpoint: try GatewayEndpoint(url))
        settings.responseTimeout = responseTimeout
        settings.retries.attempts = attempts
        settings.eventMethod = eventMethod
        return AppleGateway(
            settings: settings, client: try client(roots: roots), identities: identities, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { duration in
            waits?.update { $0.append(duration) }
            (clock as? HandMovedClock)?.advance(by: duration)
        }
    }
}

/// A source with one identity for each merchant in a table, and one for all other owners.
struct IdentityTable: IdentitySource {
    let platform: IdentityFiles
    let merchants: [MerchantIdentifier: IdentityFiles]

    func identity(of owner: IdentityOwner, at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        guard case .merchant(let merchant) = owner, let files = merchants[merchant] else {
            return try platform.identity(of: .platform, at: time)
        }
        return try files.identity(of: .platform, at: time)
    }
}

/// A source that always returns the same identity or error.
struct FixedIdentity: IdentitySource {
    let answer: Result<ClientIdentity, IdentityError>

    func identity(of owner: IdentityOwner, at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        try answer.get()
    }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(Date()) }
}

extension GatewayRegistration {
    static func sample(_ partner: String = "shop-1", _ domains: [String] = ["shop.example.com"]) throws -> Self {
        GatewayRegistration(
            partnerInternalMerchantIdentifier: try #require(PartnerInternalMerchantIdentifier(partner)),
            partnerMerchantName: "Größe & Söhne / \"Shop\"", domainNames: try domains.map { try .sample($0) },
            encryptTo: GatewayFixture.merchant, merchantUrl: nil)
    }
}

extension DomainName {
    static func sample(_ text: String) throws -> DomainName { try #require(DomainName(ascii: text)) }
}

/// Runs `body` with a gateway, then shuts the gateway down.
func withGateway<Outcome>(
    _ gateway: AppleGateway, _ body: (AppleGateway) async throws -> Outcome
) async throws -> Outcome {
    let outcome: Result<Outcome, any Error>
    do { outcome = .success(try await body(gateway)) } catch { outcome = .failure(error) }
    await gateway.shutdown()
    return try outcome.get()
}

/// The error that a call throws; nil if it throws none.
func failure(_ body: () async throws(GatewayError) -> Void) async -> GatewayError? {
    do throws(GatewayError) {
        try await body()
        return nil
    } catch { return error }
}
