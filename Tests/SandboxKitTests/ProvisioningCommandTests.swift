import Foundation
import MerchantTestSupport
import SandboxKit
import Testing

/// `applepay-sandbox provisioning-certificates` and `provision`.
@Suite struct ProvisioningCommandTests {
    let fixture: ProvisioningFixture
    let scratch: Scratch
    let directory: String

    init() throws {
        fixture = try ProvisioningFixture()
        scratch = fixture.sandbox.scratch
        directory = scratch.path("apple")
        try AuthorityDirectory(directory).store(fixture.sandbox.authority)
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: scratch.path(name))[.posixPermissions] as? Int
    }

    @Test
    func `provisioning-certificates writes certificates, a key for the owner only, and what Wallet hands to an app`()
        throws
    {
        let run = ["provisioning-certificates", "--directory", directory, "--request", scratch.path("wallet.json")]
        #expect(SandboxProgram.run(run) == 0)
        #expect(try mode("apple/provisioning-leaf.key.pem") == 0o600)
        let wallet = try #require(
            try JSONSerialization.jsonObject(with: Data(scratch.bytes("wallet.json"))) as? [String: Any])
        let certificates = try #require(wallet["certificates"] as? [String])
        let files = try ["leaf", "sub-ca"].map { name in
            try scratch.text("apple/provisioning-\(name).pem").split(separator: "\n")
                .filter { !$0.hasPrefix("-----") }.joined()
        }
        #expect(certificates == files)
        #expect((wallet["nonce"] as? String)?.count == 8)
        #expect((wallet["nonceSignature"] as? String)?.count == 162)
        // A second run changes nothing.
        let leaf = try scratch.bytes("apple/provisioning-leaf.pem")
        #expect(SandboxProgram.run(run) == 1)
        #expect(try scratch.bytes("apple/provisioning-leaf.pem") == leaf)
        let other = ["provisioning-certificates", "--directory", directory, "--out-directory", scratch.path("other")]
        #expect(SandboxProgram.run(other + ["--fault", "rsa"]) == 0)
        #expect(try scratch.text("other/provisioning-leaf.key.pem").contains("PRIVATE KEY"))
    }

    @Test func `provision exits with 0 for 200, 1 for 500 or an unusable key, and 2 for wrong usage`() throws {
        let key = try scratch.write(fixture.credentials.privateKey, "key.pem")
        let pass = try scratch.write(ProvisioningFixture.json(fixture.encrypt()), "pass.json")
        let run = ["provision", pass, "--private-key", key, "--nonce", ProvisioningFixture.nonce]
        #expect(SandboxProgram.run(run + ["--network", "Mastercard"]) == 0)
        #expect(SandboxProgram.run(["provision", pass, "--private-key", key, "--nonce", "00000000"]) == 1)
        #expect(SandboxProgram.run(["provision", key, "--private-key", key]) == 1)
        #expect(SandboxProgram.run(["provision", pass, "--private-key", pass]) == 1)
        // The directory has no key yet.
        #expect(SandboxProgram.run(["provision", pass, "--directory", directory]) == 1)
        for wrong in [["--network", "Nonsense"], ["--nonce", "xy"], ["--nonce", ""]] {
            #expect(SandboxProgram.run(run + wrong) == 2)
        }
    }
}
