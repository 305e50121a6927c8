import AppleGateway
import Foundation
import KeyCustody
import MerchantCore
import MerchantTestSupport
import OutboundHTTP
import SandboxKit
import Testing
import Vocabulary

/// The client identity, from files and from custody, and the errors of invalid ones.
@Suite struct IdentityTests {
    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

    /// The error of a call that changes nothing at Apple; nil if the call succeeds.
    private func detailsError(
        _ url: String, _ identities: any IdentitySource, roots: TrustRoots? = nil
    ) async throws -> GatewayError? {
        let partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
        return try await withGateway(fixture.gateway(url, identities, roots: roots)) { gateway in
            await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
        }
    }

    private func custody() throws -> CustodyFixture { try CustodyFixture(fixture) }

    @Test(arguments: TestGatewayServer.allCases)
    func `the client authenticates in TLS with an identity key in custody`(server: TestGatewayServer) async throws {
        let custody = try custody()
        try custody.add("first", issuedBy: fixture.authority, days: 0...700)
        try await server.serve(fixture) { url in
            let found = try await detailsError(url, custody.identities)
            #expect(found == nil)
        }
    }

    @Test func `the newest valid identity key is used from the next call on`() async throws {
        let custody = try custody()
        let old = try custody.add("old", issuedBy: fixture.authority, days: -600...100)
        let expired = try custody.add("ended", issuedBy: fixture.authority, days: -700...(-1))
        #expect(try custody.identities.identity(of: .platform, at: .now).publicKeyHash == old)
        try await withSandbox(fixture) { sandbox in
            let partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
            try await withGateway(fixture.gateway(sandbox.url, custody.identities)) { gateway in
                #expect(try await gateway.details(of: partner) == nil)
                let new = try custody.add("new", issuedBy: fixture.authority, days: -1...760)
                #expect(try custody.identities.identity(of: .platform, at: .now).publicKeyHash == new)
                #expect(try await gateway.details(of: partner) == nil)
                custody.revoke(new)
                #expect(try await gateway.details(of: partner) == nil)
                custody.revoke(old)
                let found = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(found?.kind == .identityUnusable)
                #expect(found?.detail.contains("expired at") == true, "\(String(describing: found))")
                custody.revoke(expired)
                guard case .notConfigured(let why) = gateway.health else {
                    Issue.record("\(gateway.health)")
                    return
                }
                #expect(why.contains("key generate --purpose identity"))
            }
        }
    }

    @Test func `an identity can be in a PKCS#12 or one PEM file, or have an encrypted key`() async throws {
        let scratch = try Scratch()
        let (key, certificate) = (fixture.scratch.path("good.key"), fixture.scratch.path("good.pem"))
        try scratch.write("secret\n", "passphrase")
        try scratch.openssl(
            "pkcs12", "-export", "-inkey", key, "-in", certificate, "-certfile", fixture.scratch.path("root.pem"),
            "-out",
            scratch.path("id.p12"), "-passout", "pass:secret")
        try scratch.openssl("rsa", "-aes256", "-in", key, "-out", scratch.path("locked.key"), "-passout", "pass:secret")
        try scratch.write(try fixture.scratch.bytes("good.pem") + fixture.scratch.bytes("good.key"), "both.pem")
        let passphrase = scratch.path("passphrase")
        let locations: [IdentityFiles.Location] = [
            .init(certificate: scratch.path("id.p12"), privateKey: nil, passphrase: passphrase),
            .init(certificate: scratch.path("id.p12"), privateKey: scratch.path("id.p12"), passphrase: passphrase),
            .init(certificate: scratch.path("both.pem"), privateKey: nil, passphrase: nil),
            .init(certificate: certificate, privateKey: scratch.path("locked.key"), passphrase: passphrase),
        ]
        try await withSandbox(fixture) { sandbox in
            for location in locations {
                let found = try await detailsError(sandbox.url, IdentityFiles(location))
                #expect(found == nil, "\(location)")
            }
        }
    }

    @Test func `replaced files are read again, and a broken replacement is not used`() async throws {
        let scratch = try Scratch()
        try scratch.write(fixture.scratch.bytes("good.pem"), "id.pem")
        try scratch.write(fixture.scratch.bytes("good.key"), "id.key")
        let files = try IdentityFiles(
            .init(certificate: scratch.path("id.pem"), privateKey: scratch.path("id.key"), passphrase: nil))
        let first = try files.identity(of: .platform, at: .now).publicKeyHash
        // The certificate is replaced before its key, so for a while they do not match.
        try scratch.write(fixture.scratch.bytes("other.pem"), "id.pem")
        #expect(try files.identity(of: .platform, at: .now).publicKeyHash == first)
        #expect(files.readError?.contains("belongs to the private key") == true)
        try scratch.write(fixture.scratch.bytes("other.key"), "id.key")
        let second = try files.identity(of: .platform, at: .now).publicKeyHash
        #expect(second != first)
        #expect(files.readError == nil)
        try FileManager.default.removeItem(atPath: scratch.path("id.key"))
        #expect(try files.identity(of: .platform, at: .now).publicKeyHash == second)
    }

    @Test func `files without a usable identity are refused, with the reason`() throws {
        let scratch = try Scratch()
        let good = fixture.location("good")
        try scratch.write("secret\n", "wrong")
        try scratch.openssl(
            "rsa", "-aes256", "-in", fixture.scratch.path("good.key"), "-out", scratch.path("locked.key"), "-passout",
            "pass:right")
        try scratch.write("hello", "hello")
        let server = fixture.scratch.path("server.pem")
        let cases: [(IdentityFiles.Location, String)] = [
            (.init(certificate: scratch.path("none"), privateKey: good.privateKey, passphrase: nil), "cannot be read"),
            (.init(certificate: good.certificate, privateKey: scratch.path("hello"), passphrase: nil), "neither PEM"),
            (
                .init(certificate: fixture.scratch.path("other.pem"), privateKey: good.privateKey, passphrase: nil),
                "belongs to the private key"
            ),
            (
                .init(certificate: good.certificate, privateKey: scratch.path("locked.key"), passphrase: nil),
                "a passphrase is needed"
            ),
            (
                .init(
                    certificate: good.certificate, privateKey: scratch.path("locked.key"),
                    passphrase: scratch.path("wrong")), "passphrase does not decrypt"
            ),
            (
                .init(certificate: server, privateKey: fixture.scratch.path("server.key"), passphrase: nil),
                "not for client authentication"
            ),
        ]
        for (location, words) in cases {
            let error = #expect(throws: IdentityError.self) { try IdentityFiles(location) }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test func `a FIFO in place of an identity file does not block`() async throws {
        let scratch = try Scratch()
        let path = scratch.path("fifo")
        #expect(mkfifo(path, 0o600) == 0)
        // Releases a reader that blocks, so that the test fails instead of hanging.
        let release = Task {
            try await Task.sleep(for: .seconds(5))
            close(open(path, O_WRONLY | O_NONBLOCK))
        }
        defer { release.cancel() }
        let begin = ContinuousClock.now
        let error = #expect(throws: IdentityError.self) {
            try IdentityFiles(.init(certificate: path, privateKey: nil, passphrase: nil))
        }
        #expect(ContinuousClock.now - begin < .seconds(4))
        #expect(
            error?.description.contains("is not a regular file: check the path") == true, "\(String(describing: error))"
        )
    }

    @Test func `an expired identity certificate is reported without a request`() async throws {
        try await withSandbox(fixture) { sandbox in
            let found = try await detailsError(sandbox.url, fixture.files("expired"))
            #expect(found?.kind == .identityUnusable)
            #expect(found?.detail.contains("expired at") == true)
            #expect(found?.mayHaveActed == false)
        }
    }

    /// An identity that the client presents even if its certificate has expired.
    private func unchecked(_ name: String) throws -> FixedIdentity {
        let real = try? fixture.files(name).identity(
            of: .platform, at: GatewayFixture.day(name == "expired" ? -100 : 1))
        return FixedIdentity(answer: .success(try #require(real)))
    }

    @Test func `the sandbox refuses an untrusted, an expired and a missing client certificate and reports which`()
        async throws
    {
        try await withSandbox(fixture) { sandbox in
            let untrusted = try await detailsError(sandbox.url, fixture.files("untrusted"))
            #expect(untrusted?.kind == .unauthorized)
            #expect(untrusted?.status == 401)
            #expect(untrusted?.detail.contains("not issued as an identity certificate") == true)
            let expired = try await detailsError(sandbox.url, unchecked("expired"))
            #expect(expired?.kind == .unauthorized)
            #expect(expired?.detail.contains("expired at") == true)
            let missing = try await detailsError(sandbox.url, FixedIdentity(answer: .success(.none)))
            #expect(missing?.kind == .unauthorized)
            #expect(missing?.detail.contains("no client certificate was presented") == true)
            for error in [untrusted, expired, missing] {
                #expect(error?.detail.contains("Payment Services Exception Unauthorized") == true)
                #expect(error?.correlationIdentifier != nil)
            }
        }
    }

    @Test(arguments: [TestGatewayServer.pythonTLS13, .pythonTLS12])
    func `a TLS alert that refuses the client certificate is reported`(server: TestGatewayServer) async throws {
        try await server.serve(fixture) { url in
            let cases: [(any IdentitySource, String)] = [
                (try fixture.files("untrusted"), "does not know the CA"),
                (try unchecked("expired"), "has expired"),
                (FixedIdentity(answer: .success(.none)), "client certificate"),
            ]
            for (identity, words) in cases {
                let found = try await detailsError(url, identity)
                #expect(found?.kind == .unauthorized, "\(String(describing: found))")
                #expect(found?.detail.contains(words) == true, "\(String(describing: found))")
                #expect(found?.mayHaveActed == false)
            }
            // A valid client certificate still works.
            #expect(try await detailsError(url, fixture.files("good")) == nil)
        }
    }

    @Test func `an untrusted server receives no request, and the error says why`() async throws {
        try await withSandbox(fixture) { sandbox in
            let found = try await detailsError(sandbox.url, fixture.files("good"), roots: .system)
            #expect(found?.kind == .serverUntrusted)
            #expect(
                found?.detail.contains("does not chain to a trusted root: localhost") == true,
                "\(String(describing: found))")
            #expect(sandbox.tally.calls(.getDetails) == 0)
        }
        let cases: [([String], ClosedRange<Int>, String)] = [
            (["localhost"], -90...(-2), "has expired: localhost"), (["localhost"], 2...90, "is not valid yet"),
            (["example.com"], -1...90, "is for another name: its names are example.com, expected localhost"),
        ]
        for (names, days, words) in cases {
            try await withSite(fixture, names: names, from: days.lowerBound, until: days.upperBound) { _ in
                .answer(200, [:], [])
            } _: { site in
                let found = try await detailsError("https://localhost:\(site.port)", fixture.files("good"))
                #expect(found?.kind == .serverUntrusted)
                #expect(found?.detail.contains(words) == true, "\(String(describing: found))")
            }
        }
    }

    @Test func `a key that cannot sign is reported as an unusable identity`() async throws {
        let real = try fixture.files("good").identity(of: .platform, at: .now)
        let broken = ClientIdentity(
            certificateChain: real.certificateChain, publicKeyHash: real.publicKeyHash, notBefore: real.notBefore,
            notAfter: real.notAfter, signatureAlgorithms: real.signatureAlgorithms
        ) { _, _ in throw MerchantError(.keyDamaged, "damaged") }
        try await withSandbox(fixture) { sandbox in
            let found = try await detailsError(sandbox.url, FixedIdentity(answer: .success(broken)))
            #expect(found?.kind == .identityUnusable, "\(String(describing: found))")
        }
    }
}

extension ClientIdentity {
    /// An identity without a certificate.
    static let none = ClientIdentity(
        certificateChain: [], publicKeyHash: PublicKeyHash(of: []), notBefore: .now, notAfter: .now,
        signatureAlgorithms: []
    ) { _, _ in [] }
}
