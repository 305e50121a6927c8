import PaymentToken
import SandboxKit
import Testing

@Suite("Token metadata of the sandbox")
struct SandboxTokenMetadataTests {
    @Test(
        "Token metadata that the sandbox minted is verified and decrypted, also with a chain that a payment token cached",
        arguments: ApplePayToken.Version.allCases)
    func minted(_ version: ApplePayToken.Version) throws {
        let sandbox = try SandboxTokens.shared.get()
        let verifier = SignatureVerifier(environment: TokenEnvironment.sandbox, trustRoots: sandbox.trustRoots)
        let token = try ApplePayToken(parsing: Array(sandbox.minted(version) { _ in }.json.utf8))
        try verifier.verify(token, receivedAt: sandbox.signedAt).requireVerified()
        for identifier in [nil, "MPAN-0001"] {
            var content = TokenMetadata()
            content.mpanIdentifier = identifier
            let metadata = try EncryptedTokenMetadata(parsing: Array(sandbox.metadata(version, content).utf8))
            #expect(metadata.version == version)
            let fast = verifier.verifyWithCachedChain(metadata, receivedAt: sandbox.signedAt)
            #expect(fast?.isVerified == true)
            #expect(fast == verifier.verifyInFull(metadata, receivedAt: sandbox.signedAt))
            let decrypted = try metadata.decrypt(with: sandbox.symmetricKey(of: metadata))
            #expect(decrypted.expirationDate == content.expirationDate && decrypted.mpanIdentifier == identifier)
            #expect(decrypted.withMPAN { String(decoding: $0, as: UTF8.self) } == content.mpan)
        }
    }
}
