import Foundation
import Testing

/// Tokens that a script minted with Python's package `cryptography`, which shares no code with the daemon.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct PythonTokensTests {
    static let merchant = "merchant.com.example.python"

    // The shared secrets of 24 tokens for EC_v1 begin with a zero byte.
    @Test(arguments: [("EC_v1", 30, 24), ("RSA_v1", 10, 0)])
    func `the daemon decrypts tokens that Python minted, but only with --unverified`(
        algorithm: String, count: Int, leadingZeros: Int
    ) throws {
        let installation = try Installation()
        try installation.apple("init")
        try installation.start()
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        _ = try installation.certifiedKey(Self.merchant, "key", "--algorithm", algorithm)

        let script = try #require(Bundle.module.path(forResource: "mint_tokens", ofType: "py", inDirectory: "Scripts"))
        let minted = try Installation.run(
            ["python3", script, installation.path("key.cer"), "\(count)", "\(leadingZeros)"])
        #expect(minted.status == 0, "\(minted.error)")
        let lines = minted.output.split(separator: "\n")
        #expect(lines.count == count)
        for line in lines {
            let token = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let file = try installation.write(String(line), "token.json")
            let outcome = try installation.ctl(
                "token", "decrypt", file, "--merchant", Self.merchant, "--unverified", "--raw")
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.bytes.base64EncodedString() == token["plaintext"] as? String)
            let verified = try installation.ctl("token", "decrypt", file, "--merchant", Self.merchant)
            #expect(verified.status == 1 && verified.refusalCode == "tokenNotVerified", "\(verified.error)")
        }
    }
}
