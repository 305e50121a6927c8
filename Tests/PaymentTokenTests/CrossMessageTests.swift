import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

/// Apple signs payment tokens and token metadata without naming the kind of the message: see ``EncryptedTokenMetadata``.
@Suite("A payment token's signature for token metadata, and the reverse")
struct CrossMessageTests {
    let verifier: SignatureVerifier

    init() throws {
        verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
    }

    private func metadata(from parts: TestMint.Parts, data: [UInt8]) throws -> EncryptedTokenMetadata {
        try TestMint.MetadataParts(
            version: nil, keyName: parts.keyName, keyMaterial: parts.keyMaterial, publicKeyHash: parts.publicKeyHash,
            data: data, signature: parts.signature
        ).metadata()
    }

    private func token(
        from parts: TestMint.MetadataParts, data: [UInt8], transactionId: [UInt8], version: ApplePayToken.Version
    ) throws -> ApplePayToken {
        try TestMint.Parts(
            version: version.rawValue, keyMaterial: parts.keyMaterial, publicKeyHash: parts.publicKeyHash,
            transactionId: transactionId, applicationDataHash: nil, data: data, signature: parts.signature
        ).token()
    }

    @Test(
        "The signature of a payment token is not valid for the same data as token metadata",
        arguments: ApplePayToken.Version.allCases)
    func tokenAsMetadata(_ version: ApplePayToken.Version) throws {
        for applicationData in [nil, "order 4711"] {
            let parts = try TestMint(version: version, applicationData: applicationData).parts()
            let verification = verifier.verify(
                try metadata(from: parts, data: parts.data), receivedAt: TestMint.signedAt)
            #expect(verification.checks.filter { $0.outcome == .failed }.map(\.failureReason) == [.digestMismatch])
        }
    }

    @Test(
        "With transactionId and applicationData appended to its data, a payment token verifies as token metadata, but cannot be decrypted",
        arguments: ApplePayToken.Version.allCases)
    func extendedTokenAsMetadata(_ version: ApplePayToken.Version) throws {
        for applicationData in [nil, "order 4711"] {
            // The plaintext is valid token metadata, so only the GCM tag prevents the decryption.
            let parts = try TestMint(
                version: version, plaintext: TestMint.metadataPlaintext, applicationData: applicationData
            ).parts()
            let metadata = try metadata(
                from: parts, data: parts.data + parts.transactionId + (parts.applicationDataHash ?? []))
            #expect(verifier.verify(metadata, receivedAt: TestMint.signedAt).isVerified)
            let error = #expect(throws: PaymentTokenError.self) {
                _ = try metadata.decrypt(with: TestMint.restoredKey(of: metadata))
            }
            #expect(error?.code == .decryptionFailed)
        }
    }

    @Test(
        "The signature of token metadata is not valid for the same data as a payment token",
        arguments: ApplePayToken.Version.allCases)
    func metadataAsToken(_ version: ApplePayToken.Version) throws {
        let parts = try TestMint.ofMetadata(version).metadataParts()
        let token = try token(
            from: parts, data: parts.data, transactionId: [UInt8](repeating: 0, count: 32), version: version)
        let verification = verifier.verify(token, receivedAt: TestMint.signedAt)
        #expect(verification.checks.filter { $0.outcome == .failed }.map(\.failureReason) == [.digestMismatch])
    }

    @Test(
        "With the last 32 bytes of its data as transactionId, token metadata verifies as a payment token, but cannot be decrypted",
        arguments: ApplePayToken.Version.allCases)
    func shortenedMetadataAsToken(_ version: ApplePayToken.Version) throws {
        let parts = try TestMint.ofMetadata(version, plaintext: TestMint.plaintext).metadataParts()
        let token = try token(
            from: parts, data: parts.data.dropLast(32), transactionId: parts.data.suffix(32), version: version)
        #expect(verifier.verify(token, receivedAt: TestMint.signedAt).isVerified)
        let error = #expect(throws: PaymentTokenError.self) {
            _ = try token.decrypt(with: TestMint.restoredKey(of: token))
        }
        #expect(error?.code == .decryptionFailed)
    }

    @Test("Neither message can be parsed as the other")
    func parsing() throws {
        let token = Array(try TestMint().parts().json.utf8)
        let metadata = Array(try TestMint.ofMetadata().metadataParts().json.utf8)
        #expect(throws: PaymentTokenError.self) { try EncryptedTokenMetadata(parsing: token) }
        #expect(throws: PaymentTokenError.self) { try ApplePayToken(parsing: metadata) }
    }
}
