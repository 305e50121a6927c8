import Foundation
import Testing

/// Registrations and identity keys without a connection to Apple.
@Suite struct RegistrationTests {
    static let integrator = "platformintegrator.com.example"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        try installation.start()
        #expect(try installation.ctl("merchant", "add", Self.integrator).status == 0)
    }

    @Test func `a merchant can have several active identity keys`() throws {
        for name in ["first", "second"] {
            let hash = try installation.certifiedKey(Self.integrator, name, "--purpose", "identity")
            let key = try installation.ctlJSON("key", "show", hash)
            #expect(key["purpose"] as? String == "identity" && key["algorithm"] as? String == "RSA_v1")
            #expect(key["state"] as? String == "standby")
            let resolved = try installation.curl(
                installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))")
            #expect(resolved.output == "404")
        }
        let listed = try installation.ctlJSON("key", "list", Self.integrator)
        let items = try #require(listed["items"] as? [[String: Any]])
        #expect(items.count == 2 && items.allSatisfy { $0["notAfter"] is String })
    }

    @Test func `a daemon without an identity refuses a registration, names the missing setting and stays ready`() throws
    {
        let refused = try installation.ctl(
            "registration", "register", "shop|1", "--name", "Shop", "--domain", "bücher.example")
        #expect(refused.status == 1 && refused.refusalCode == "gatewayNotConfigured", "\(refused.error)")
        #expect(refused.error.contains("apple.gateway.identity.certificate"))
        #expect(try installation.ctl("registration", "details", "shop|1").refusalCode == "registrationNotFound")
        #expect(try installation.ctlJSON("registration", "list")["items"] as? [String] == [])
        #expect(try installation.curl(installation.adminSocket, "/v1/health").output == "200")
        // The attempt is audited, and no call is open after a kill.
        try installation.restart()
        #expect(try installation.ctlJSON("status")["registrationCallsOpen"] as? Int == 0)
        for action in ["registrationCallOpened", "registrationCallFailed"] {
            #expect(try installation.auditRecords(action).count == 1)
        }
    }

    @Test func `the domain verification file survives a kill unchanged`() throws {
        let path = "/.well-known/apple-developer-merchantid-domain-association"
        #expect(try installation.curl(installation.adminSocket, path).output == "404")
        let bytes = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(filePath: installation.path("association")))
        #expect(try installation.ctl("domain", "file", "--set", installation.path("association")).status == 0)
        try installation.restart()
        #expect(try installation.curlBody(installation.adminSocket, path).bytes == bytes)
        #expect(try installation.ctl("domain", "file").bytes == bytes)
    }
}
