import AppleGateway
import Foundation
import KeyCustody
import MerchantCore
import NIOSSL
import SandboxKit
import Testing
import Vocabulary

/// Who we are, from files and from custody, and what happens where it is wrong.
@Suite struct IdentityTests {
    let bench: Bench

    init() throws { bench = try Bench.shared.get() }

    /// One harmless call.
    private func ask(
        _ url: String, _ identities: any IdentitySource, roots: TrustRoots? = nil
    ) async throws -> GatewayError? {
        let partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
        return try await withGateway(bench.gateway(url, identities, roots: roots)) { gateway in
            await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
        }
    }

    private func custody() throws -> CustodyBench { try CustodyBench(bench) }

    @Test(arguments: Opponent.allCases)
    func `an identity key in custody signs in TLS without leaving`(opponent: Opponent) async throws {
        let custody = try custody()
        try custody.add("first", issuedBy: bench.authority, days: 0...700)
        try await opponent.serve(bench) { url in
            let found = try await ask(url, custody.identities)
            #expect(found == nil)
        }
    }

    @Test func `of several identity keys the newest valid one is used, from the next call on`() async throws {
        let custody = try custody()
        let old = try custody.add("old", issuedBy: bench.authority, days: -600...100)
        let ended = try custody.add("ended", issuedBy: bench.authority, days: -700...(-1))
        #expect(try custody.identities.identity(at: .now).publicKeyHash == old)
        try await withSandbox(bench) { sandbox in
            let partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
            try await withGateway(bench.gateway(sandbox.url, custody.identities)) { gateway in
                #expect(try await gateway.details(of: partner) == nil)
                let new = try custody.add("new", issuedBy: bench.authority, days: -1...760)
                #expect(try custody.identities.identity(at: .now).publicKeyHash == new)
                #expect(try await gateway.details(of: partner) == nil)
                custody.revoke(new)
                #expect(try await gateway.details(of: partner) == nil)
                custody.revoke(old)
                let found = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(found?.kind == .identityUnusable)
                #expect(found?.detail.contains("ended at") == true, "\(String(describing: found))")
                custody.revoke(ended)
                guard case .notConfigured(let why) = gateway.health else {
                    Issue.record("\(gateway.health)")
                    return
                }
                #expect(why.contains("expected one"))
            }
        }
    }

    @Test func `a PKCS#12 file, a PEM file with both, and an encrypted key are identities too`() async throws {
        let scratch = try Scratch()
        let (key, certificate) = (bench.scratch.path("good.key"), bench.scratch.path("good.pem"))
        try scratch.write("secret\n", "passphrase")
        try scratch.openssl(
            "pkcs12", "-export", "-inkey", key, "-in", certificate, "-certfile", bench.scratch.path("root.pem"), "-out",
            scratch.path("id.p12"), "-passout", "pass:secret")
        try scratch.openssl("rsa", "-aes256", "-in", key, "-out", scratch.path("locked.key"), "-passout", "pass:secret")
        try scratch.write(try bench.scratch.bytes("good.pem") + bench.scratch.bytes("good.key"), "both.pem")
        let passphrase = scratch.path("passphrase")
        let locations: [IdentityFiles.Location] = [
            .init(certificate: scratch.path("id.p12"), privateKey: nil, passphrase: passphrase),
            .init(certificate: scratch.path("id.p12"), privateKey: scratch.path("id.p12"), passphrase: passphrase),
            .init(certificate: scratch.path("both.pem"), privateKey: nil, passphrase: nil),
            .init(certificate: certificate, privateKey: scratch.path("locked.key"), passphrase: passphrase),
        ]
        try await withSandbox(bench) { sandbox in
            for location in locations {
                let found = try await ask(sandbox.url, IdentityFiles(location))
                #expect(found == nil, "\(location)")
            }
        }
    }

    @Test func `files that were replaced are taken up, and a broken replacement is not`() async throws {
        let scratch = try Scratch()
        try scratch.write(bench.scratch.bytes("good.pem"), "id.pem")
        try scratch.write(bench.scratch.bytes("good.key"), "id.key")
        let files = try IdentityFiles(
            .init(certificate: scratch.path("id.pem"), privateKey: scratch.path("id.key"), passphrase: nil))
        let first = try files.identity(at: .now).publicKeyHash
        // The certificate comes first, its key a moment later.
        try scratch.write(bench.scratch.bytes("other.pem"), "id.pem")
        #expect(try files.identity(at: .now).publicKeyHash == first)
        #expect(files.complaint?.contains("expected that of the private key") == true)
        try scratch.write(bench.scratch.bytes("other.key"), "id.key")
        let second = try files.identity(at: .now).publicKeyHash
        #expect(second != first)
        #expect(files.complaint == nil)
        try FileManager.default.removeItem(atPath: scratch.path("id.key"))
        #expect(try files.identity(at: .now).publicKeyHash == second)
    }

    @Test func `files that are no identity are refused with what was found`() throws {
        let scratch = try Scratch()
        let good = bench.location("good")
        try scratch.write("secret\n", "wrong")
        try scratch.openssl(
            "rsa", "-aes256", "-in", bench.scratch.path("good.key"), "-out", scratch.path("locked.key"), "-passout",
            "pass:right")
        try scratch.write("hello", "hello")
        let server = bench.scratch.path("server.pem")
        let cases: [(IdentityFiles.Location, String)] = [
            (.init(certificate: scratch.path("none"), privateKey: good.privateKey, passphrase: nil), "cannot be read"),
            (.init(certificate: good.certificate, privateKey: scratch.path("hello"), passphrase: nil), "neither PEM"),
            (
                .init(certificate: bench.scratch.path("other.pem"), privateKey: good.privateKey, passphrase: nil),
                "expected that of the private key"
            ),
            (
                .init(certificate: good.certificate, privateKey: scratch.path("locked.key"), passphrase: nil),
                "a passphrase is needed"
            ),
            (
                .init(
                    certificate: good.certificate, privateKey: scratch.path("locked.key"),
                    passphrase: scratch.path("wrong")), "passphrase does not open"
            ),
            (
                .init(certificate: server, privateKey: bench.scratch.path("server.key"), passphrase: nil),
                "not for client authentication"
            ),
        ]
        for (location, words) in cases {
            let error = #expect(throws: IdentityError.self) { try IdentityFiles(location) }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test func `a FIFO in an identity file's place holds nobody up`() async throws {
        let scratch = try Scratch()
        let path = scratch.path("fifo")
        #expect(mkfifo(path, 0o600) == 0)
        // Whoever waits is let go in the end, and has waited too long.
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
        #expect(error?.description.contains("is no regular file, expected one") == true, "\(String(describing: error))")
    }

    @Test func `our own certificate's end is told before anybody is asked`() async throws {
        try await withSandbox(bench) { sandbox in
            let found = try await ask(sandbox.url, bench.files("expired"))
            #expect(found?.kind == .identityUnusable)
            #expect(found?.detail.contains("ended at") == true)
            #expect(found?.mayHaveActed == false)
        }
    }

    /// An identity as a gateway would get it whose own checks were switched off.
    private func unchecked(_ name: String) throws -> GivenIdentity {
        let real = try? bench.files(name).identity(at: Bench.day(name == "expired" ? -100 : 1))
        return GivenIdentity(answer: .success(try #require(real)))
    }

    @Test func `the sandbox refuses a wrong, an expired and a missing client certificate and says which`() async throws
    {
        try await withSandbox(bench) { sandbox in
            let stranger = try await ask(sandbox.url, bench.files("stranger"))
            #expect(stranger?.kind == .unauthorized)
            #expect(stranger?.status == 401)
            #expect(stranger?.detail.contains("not issued as an identity certificate") == true)
            let expired = try await ask(sandbox.url, unchecked("expired"))
            #expect(expired?.kind == .unauthorized)
            #expect(expired?.detail.contains("expired at") == true)
            let missing = try await ask(sandbox.url, GivenIdentity(answer: .success(.none)))
            #expect(missing?.kind == .unauthorized)
            #expect(missing?.detail.contains("no client certificate was presented") == true)
            for error in [stranger, expired, missing] {
                #expect(error?.detail.contains("Payment Services Exception Unauthorized") == true)
                #expect(error?.correlationIdentifier != nil)
            }
        }
    }

    @Test(arguments: [Opponent.pythonTLS13, .pythonTLS12])
    func `a server that judges in TLS refuses them, and the alert is told`(opponent: Opponent) async throws {
        try await opponent.serve(bench) { url in
            let cases: [(any IdentitySource, String)] = [
                (try bench.files("stranger"), "does not know the CA"),
                (try unchecked("expired"), "has expired"),
                (GivenIdentity(answer: .success(.none)), "client certificate"),
            ]
            for (identity, words) in cases {
                let found = try await ask(url, identity)
                #expect(found?.kind == .unauthorized, "\(String(describing: found))")
                #expect(found?.detail.contains(words) == true, "\(String(describing: found))")
                #expect(found?.mayHaveActed == false)
            }
            // And a good one still works.
            #expect(try await ask(url, bench.files("good")) == nil)
        }
    }

    @Test func `a server that is not trusted gets nothing, and the message says why`() async throws {
        try await withSandbox(bench) { sandbox in
            let found = try await ask(sandbox.url, bench.files("good"), roots: .system)
            #expect(found?.kind == .serverUntrusted)
            #expect(
                found?.detail.contains("leads to no trusted root: localhost") == true, "\(String(describing: found))")
            #expect(sandbox.tally.calls(.getDetails) == 0)
        }
        let cases: [([String], ClosedRange<Int>, String)] = [
            (["localhost"], -90...(-2), "has ended: localhost"), (["localhost"], 2...90, "is not valid yet"),
            (["example.com"], -1...90, "found example.com, expected localhost"),
        ]
        for (names, days, words) in cases {
            try await withSite(bench, names: names, from: days.lowerBound, until: days.upperBound) { _ in
                .answer(200, [:], [])
            } _: { site in
                let found = try await ask("https://localhost:\(site.port)", bench.files("good"))
                #expect(found?.kind == .serverUntrusted)
                #expect(found?.detail.contains(words) == true, "\(String(describing: found))")
            }
        }
    }

    @Test func `a key that cannot sign is told as an unusable identity`() async throws {
        let real = try bench.files("good").identity(at: .now)
        let broken = ClientIdentity(
            certificateChain: real.certificateChain, publicKeyHash: real.publicKeyHash, notBefore: real.notBefore,
            notAfter: real.notAfter, signatureAlgorithms: real.signatureAlgorithms
        ) { _, _ in throw MerchantError(.keyDamaged, "damaged") }
        try await withSandbox(bench) { sandbox in
            let found = try await ask(sandbox.url, GivenIdentity(answer: .success(broken)))
            #expect(found?.kind == .identityUnusable, "\(String(describing: found))")
        }
    }
}

extension ClientIdentity {
    /// Nothing to show.
    static let none = ClientIdentity(
        certificateChain: [], publicKeyHash: PublicKeyHash(of: []), notBefore: .now, notAfter: .now,
        signatureAlgorithms: []
    ) { _, _ in [] }
}
