import Foundation
import Testing

extension Installation {
    /// Starts the daemon with the settings for merchant sessions.
    ///
    /// - Parameter sessions: further settings of the group `sessions`.
    func startForSessions(_ apple: ApplePeer, sessions: String...) throws {
        let lines =
            ["environment: sandbox", "sessions:", "  validation-hosts: [\"\(apple.authority)\"]"]
            + sessions.map { "  \($0)" }
        try start(config: gatewaySettings(apple.url, further: lines))
    }

    /// Adds a merchant with an identity key pair of its own.
    func addWithIdentity(_ merchant: String) throws {
        #expect(try ctl("merchant", "add", merchant).status == 0)
        _ = try certifiedKey(merchant, merchant, "--purpose", "identity")
    }

    /// Adds an identity key pair whose certificate expires soon, to a merchant that exists.
    ///
    /// - Returns: when the certificate has expired.
    func addExpiringIdentity(_ merchant: String) throws -> Date {
        let end = Date().addingTimeInterval(8)
        let csr = path("expiring.csr")
        let generated = try ctl("key", "generate", merchant, "--purpose", "identity", "--csr", csr)
        #expect(generated.status == 0, "\(generated.error)")
        try apple(
            "issue", "--csr", csr, "--merchant", merchant, "--purpose", "identity", "--not-after",
            end.formatted(.iso8601), "--out", path("expiring.cer"))
        let uploaded = try ctl("certificate", "upload", path("expiring.cer"))
        #expect(uploaded.status == 0, "\(uploaded.error)")
        return end.addingTimeInterval(1)
    }

    /// Adds the platform integrator with its identity, and registers a merchant with Apple.
    func register(_ partner: String, _ domains: String...) throws {
        try addWithIdentity(Self.integrator)
        let outcome = try Self.run(
            [
                "\(Self.programs)/merchantkeyctl", "--socket", adminSocket, "registration", "register", partner,
                "--name", "Shop",
            ] + domains.flatMap { ["--domain", $0] })
        try #require(outcome.status == 0, "\(outcome.error)")
    }

    /// Requests a merchant session.
    func session(_ fields: [String: String]) throws -> SessionAnswer {
        let fields = ["displayName": "Shop", "initiative": "web"].merging(fields) { $1 }
        let body = String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
        let outcome = try Self.run([
            "curl", "-s", "-w", "\n%{http_code}", "--max-time", "60", "--unix-socket", decryptorSocket, "-d", body,
            "http://localhost/v1/merchant-sessions",
        ])
        let end = try #require(outcome.bytes.lastIndex(of: UInt8(ascii: "\n")))
        return SessionAnswer(
            status: Int(String(decoding: outcome.bytes[(end + 1)...], as: UTF8.self)) ?? 0,
            body: Data(outcome.bytes[..<end]))
    }

    struct SessionAnswer {
        let status: Int
        let body: Data

        /// The code of a refusal.
        var code: String? {
            (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?["code"] as? String
        }

        var text: String { String(decoding: body, as: UTF8.self) }
    }
}
