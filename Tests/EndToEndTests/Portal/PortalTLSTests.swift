import Foundation
import MerchantTestSupport
import Testing

/// The portal's TLS, with clients that share no code with it.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct PortalTLSTests {
    static let hasTestssl = ["testssl", "testssl.sh"].contains {
        ChildProcess.succeeds("sh", "-c", "command -v \($0)")
    }

    let installation: Installation

    init() throws { installation = try Installation() }

    private func run(_ arguments: String...) throws -> Installation.Outcome {
        let script = try #require(Bundle.module.path(forResource: "portal_tls", ofType: "py", inDirectory: "Scripts"))
        let outcome = try Installation.run(["python3", script] + arguments)
        try #require(outcome.status == 0, "\(outcome.error)")
        return outcome
    }

    /// Starts a daemon with a portal.
    ///
    /// - Parameter kind: the algorithm of the certificate's key, `ec` or `rsa`.
    /// - Returns: the portal's port.
    private func startPortal(_ kind: String) throws -> String {
        _ = try run("issue", installation.directory, kind)
        let settings = """
            portal:
              listen: "127.0.0.1:0"
              tls: {certificate: \(installation.path("portal.pem")), private-key: \(installation.path("portal.key"))}
              limits: {connections-per-address: 4000, requests-per-minute-by-address: 100000}
            """
        try installation.start(config: try installation.write(settings, "config.yaml"))
        return try installation.portalPort()
    }

    @Test("Python and openssl connect with TLS 1.2 and 1.3, and are refused with TLS 1.1", arguments: ["ec", "rsa"])
    func handshakes(_ kind: String) throws {
        let port = try startPortal(kind)
        let report = try run("handshakes", port, installation.path("root.pem")).json()
        for client in ["python", "openssl"] {
            func connection(_ version: String) throws -> [String]? {
                try #require(report[version] as? [String: Any], "\(report)")[client] as? [String]
            }
            #expect(try connection("1.1") == nil, "\(client)")
            let suite = "ECDHE-\(kind == "ec" ? "ECDSA" : "RSA")-AES128-GCM-SHA256"
            #expect(try connection("1.2") == ["TLSv1.2", suite, "h2"], "\(client)")
            // The suite depends on the processor: without instructions for AES it is ChaCha20.
            let newest = try #require(try connection("1.3"), "\(client): \(report)")
            #expect(newest.first == "TLSv1.3" && newest.last == "h2", "\(client): \(newest)")
        }
    }

    @Test(
        "testssl.sh finds no weakness that is rated medium or worse", .tags(.slow), .skippedInQuickRuns,
        .enabled(if: hasTestssl, "testssl.sh is not installed"), arguments: ["ec", "rsa"])
    func weaknesses(_ kind: String) throws {
        let port = try startPortal(kind)
        let report = try run("weaknesses", port, installation.path("root.pem"), installation.directory).json()
        #expect(report["weaknesses"] as? [String] == [])
        // A scan that could not connect, or ended early, finds no weakness either.
        #expect(report["problems"] as? [String] == [])
        let checks = Set(report["identifiers"] as? [String] ?? [])
        for check in ["TLS1", "TLS1_1", "TLS1_2", "TLS1_3", "heartbleed", "secure_client_renego", "BREACH", "RC4"] {
            #expect(checks.contains(check), "testssl.sh did not check \(check): \(checks.sorted())")
        }
    }
}
