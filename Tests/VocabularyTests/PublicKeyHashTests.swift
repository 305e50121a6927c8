import Testing
import Vocabulary

@Suite struct PublicKeyHashTests {
    // The hash of the public key in the certificate of a real merchant. The merchant's tokens contain this hash.
    let base64 = "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls="

    @Test func `all three spellings name the same key`() throws {
        let hash = try #require(PublicKeyHash(base64: base64))
        #expect(PublicKeyHash(anySpelling: hash.base64) == hash)
        #expect(PublicKeyHash(anySpelling: hash.base64URL) == hash)
        #expect(PublicKeyHash(anySpelling: hash.hex) == hash)
        #expect(PublicKeyHash(anySpelling: hash.hex.uppercased()) == hash)
        #expect(hash.base64URL == "aXryfzzhfHFLCl-guEkcYpVd1R-mPYEmmeu1N4aR2Ls")
        #expect(hash.description == base64)
    }

    @Test(arguments: [
        "", "aXry", "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls", "aXryfzzhfHFLCl-guEkcYpVd1R+mPYEmmeu1N4aR2Ls=",
        "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Lt=", "aXryfzzhfHFLCl-guEkcYpVd1R-mPYEmmeu1N4aR2L\n",
        String(repeating: "g", count: 64), String(repeating: "0", count: 63), String(repeating: "é", count: 22),
    ])
    func `text that is not a hash is refused`(text: String) {
        #expect(PublicKeyHash(anySpelling: text) == nil)
    }

    @Test func `a hash is the SHA-256 of the public key`() {
        // NIST's vector for "abc".
        #expect(
            PublicKeyHash(of: Array("abc".utf8)).hex
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
