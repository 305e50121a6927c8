import Foundation
import Testing

/// The mirror with the real programs, as far as it goes without Apple.
@Suite struct RegistrationTests {
    static let integrator = "platformintegrator.com.example"

    let installation: Installation

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        try installation.start()
        #expect(try installation.ctl("merchant", "add", Self.integrator).status == 0)
    }

    @Test func `identity keys are made, certified and watched like others, several at once`() throws {
        for name in ["first", "second"] {
            let hash = try installation.certifiedKey(Self.integrator, name, "--purpose", "identity")
            let key = try installation.ctlJSON("key", "show", hash)
            #expect(key["purpose"] as? String == "identity" && key["algorithm"] as? String == "RSA_v1")
            #expect(key["state"] as? String == "standby")
            let resolved = try installation.curl(
                installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))")
            #expect(resolved.output == "404", "an identity key never answers a decryptor")
        }
        let ended = try installation.ctlJSON("key", "list", Self.integrator)
        let items = try #require(ended["items"] as? [[String: Any]])
        #expect(items.count == 2 && items.allSatisfy { $0["notAfter"] is String })
    }

    @Test func `a daemon without an identity refuses to register, says what is missing, and stays ready`() throws {
        let refused = try installation.ctl(
            "registration", "register", "shop|1", "--name", "Shop", "--domain", "bücher.example")
        #expect(refused.status == 1 && refused.error.contains("gatewayNotConfigured"), "\(refused.error)")
        #expect(refused.error.contains("apple.gateway.identity.certificate"))
        #expect(try installation.ctl("registration", "details", "shop|1").error.contains("registrationNotFound"))
        #expect(try installation.ctlJSON("registration", "list")["items"] as? [String] == [])
        #expect(try installation.curl(installation.adminSocket, "/v1/health").output == "200")
        // The attempt is on record, and did not leave anything open behind a kill.
        try installation.restart()
        #expect(try installation.ctlJSON("status")["registrationCallsOpen"] as? Int == 0)
        let audit = try installation.ctlJSON("audit", "list")
        #expect("\(audit)".contains("registrationCallOpened") && "\(audit)".contains("registrationCallFailed"))
    }

    @Test func `the domain file is the same after a kill`() throws {
        let path = "/.well-known/apple-developer-merchantid-domain-association"
        #expect(try installation.curl(installation.adminSocket, path).output == "404")
        let bytes = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(filePath: installation.path("association")))
        #expect(try installation.ctl("domain", "file", "--set", installation.path("association")).status == 0)
        try installation.restart()
        #expect(try installation.curlBody(installation.adminSocket, path).bytes == bytes)
        let printed = try installation.ctl("domain", "file")
        #expect(printed.bytes == bytes && printed.error.contains("without a redirect"))
    }
}
