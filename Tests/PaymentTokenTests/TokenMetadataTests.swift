import Crypto
import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Encrypted token metadata")
struct TokenMetadataTests {
    let verifier: SignatureVerifier

    init() throws {
        verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
    }

    private func decrypt(
        _ plaintext: String, version: ApplePayToken.Version = .ecV1
    ) throws -> DecryptedTokenMetadata {
        let metadata = try TestMint.ofMetadata(version, plaintext: plaintext).metadata()
        return try metadata.decrypt(with: TestMint.restoredKey(of: metadata))
    }

    private func text(_ mpan: UnsafeRawBufferPointer) -> String { String(decoding: mpan, as: UTF8.self) }

    @Test("The fields are parsed, with and without version", arguments: ApplePayToken.Version.allCases)
    func fields(_ version: ApplePayToken.Version) throws {
        var parts = try TestMint.ofMetadata(version).metadataParts()
        for name in [nil, version.rawValue] {
            parts.version = name
            let metadata = try parts.metadata()
            #expect(metadata.version == version)
            #expect(metadata.keyMaterial.bytes == parts.keyMaterial)
            #expect(metadata.data == parts.data && metadata.signature == parts.signature)
            #expect(metadata.publicKeyHashBase64 == Data(parts.publicKeyHash).base64EncodedString())
            #expect(metadata.signedContent == parts.keyMaterial + parts.data)
            #expect("\(metadata)" == "\(version.rawValue) token metadata for publicKeyHash \(metadata.publicKeyHash)")
        }
    }

    @Test("Unknown fields are ignored, and the key material of the other version may be null")
    func ignored() throws {
        let json = try TestMint.ofMetadata().metadataParts().json
        let metadata = try EncryptedTokenMetadata(
            parsing: Array(json.replacing("{", with: #"{"new":[1],"wrappedKey":null,"#, maxReplacements: 1).utf8))
        #expect(metadata.version == .ecV1)
    }

    @Test("Valid token metadata passes every check; the fast check has the same result as the full check")
    func valid() throws {
        for version in ApplePayToken.Version.allCases {
            let metadata = try TestMint.ofMetadata(version).metadata()
            let full = verifier.verifyInFull(metadata, receivedAt: TestMint.signedAt)
            #expect(full.unpassedChecks == [])
            #expect(verifier.verifyWithCachedChain(metadata, receivedAt: TestMint.signedAt) == full)
            #expect(verifier.verify(metadata, receivedAt: TestMint.signedAt.date) == full)
        }
    }

    @Test("Token metadata is accepted up to five minutes before and after its signing time")
    func signingTime() throws {
        let metadata = try TestMint.ofMetadata().metadata()
        for (seconds, isVerified) in [(-301.0, false), (-300, true), (300, true), (301, false)] {
            let verification = verifier.verify(
                metadata, receivedAt: TestMint.signedAt.date.addingTimeInterval(seconds))
            #expect(verification.isVerified == isVerified, "\(seconds) s")
            #expect(verification.unpassedChecks.map(\.name) == (isVerified ? [] : [.signingTime]))
        }
    }

    @Test("A chain that a payment token has cached also serves token metadata")
    func sharedCache() throws {
        let authority = TestAuthority.shared
        // A mint signs its certificates again for each message, so both messages get the same ones here.
        let certificates = [
            try authority.signedByIntermediate(authority.leaf(.ecV1)),
            try authority.signedByRoot(authority.intermediate),
        ]
        let token = try TestMint(changeCertificates: { _ in certificates }).token()
        try verifier.verify(token, receivedAt: TestMint.signedAt).requireVerified()
        var mint = TestMint.ofMetadata()
        mint.changeCertificates = { _ in certificates }
        let metadata = try mint.metadata()
        #expect(verifier.verifyWithCachedChain(metadata, receivedAt: TestMint.signedAt)?.isVerified == true)
    }

    @Test(
        "Decryption yields the expiration date, the account number and its identifier",
        arguments: ApplePayToken.Version.allCases)
    func decrypted(_ version: ApplePayToken.Version) throws {
        let decrypted = try decrypt(TestMint.metadataPlaintext, version: version)
        #expect(decrypted.expirationDate == "310131")
        #expect(decrypted.mpanIdentifier == "MPAN-0001")
        #expect(decrypted.withMPAN(text) == TestMint.mpan)
    }

    @Test("The identifier is nil if Apple left it out, and unknown fields are ignored")
    func unchangedIdentifier() throws {
        for rest in ["", #","mpanId":null"#, #","new":{"a":[1]}"#] {
            let decrypted = try decrypt(#"{"mpan":"370295136149943","expirationDate":"290228"\#(rest)}"#)
            #expect(decrypted.mpanIdentifier == nil && decrypted.withMPAN(text) == "370295136149943")
        }
    }

    @Test(
        "A plaintext with a defect is rejected, and the error quotes no value",
        arguments: [
            "", "[]", "{}", #"{"expirationDate":"310131"}"#, #"{"mpan":"5204240250000002"}"#,
            #"{"expirationDate":310131,"mpan":"5204240250000002"}"#,
            #"{"expirationDate":"31013","mpan":"5204240250000002"}"#,
            #"{"expirationDate":"2031-1","mpan":"5204240250000002"}"#,
            #"{"expirationDate":"310131","mpan":5204240250000002}"#,
            #"{"expirationDate":"310131","mpan":"5204240"}"#,
            #"{"expirationDate":"310131","mpan":"52042402500000020000"}"#,
            #"{"expirationDate":"310131","mpan":"5204 2402 5000 0002"}"#,
            #"{"expirationDate":"310131","mpan":"5204240250000002","mpan":"5204240250000002"}"#,
            #"{"expirationDate":"310131","mpan":"5204240250000002","mpanId":""}"#,
            #"{"expirationDate":"310131","mpan":"5204240250000002","mpanId":"5204240250000002\n"}"#,
            #"{"expirationDate":"310131","mpan":"5204240250000002","mpanId":7}"#,
            #"{"expirationDate":"310131","mpan":"5204240250000002","mpanId":"\#(String(repeating: "5", count: 129))"}"#,
            TestMint.plaintext,
        ])
    func malformedPlaintext(_ plaintext: String) throws {
        // Ciphertext of an empty plaintext is already too short for the parser.
        guard plaintext.utf8.count >= 2 else {
            #expect(throws: PaymentTokenError.self) { try TestMint.ofMetadata(plaintext: plaintext).metadata() }
            return
        }
        let error = #expect(throws: PaymentTokenError.self) { _ = try decrypt(plaintext) }
        #expect(error?.code == .plaintextMalformed)
        #expect(error?.detail.contains("52042") == false && error?.detail.contains("555") == false)
    }

    @Test(
        "A wrong key, a modified tag and modified data give the same error", arguments: ApplePayToken.Version.allCases)
    func sameError(_ version: ApplePayToken.Version) throws {
        let valid = try TestMint.ofMetadata(version).metadataParts()
        let key = try TestMint.restoredKey(of: valid.metadata())
        var (changedTag, changedData) = (valid, valid)
        changedTag.data[valid.data.count - 1] ^= 1
        changedData.data[0] ^= 1
        let otherKey = SymmetricKey(size: version == .ecV1 ? .bits256 : .bits128)
        var errors: Set<PaymentTokenError> = []
        for (parts, key) in [(changedTag, key), (changedData, key), (valid, otherKey)] {
            let error = #expect(throws: PaymentTokenError.self) { _ = try parts.metadata().decrypt(with: key) }
            errors.insert(try #require(error))
        }
        #expect(errors.map(\.code) == [.decryptionFailed])
        let short = SymmetricKey(size: version == .ecV1 ? .bits128 : .bits256)
        let error = #expect(throws: PaymentTokenError.self) { _ = try valid.metadata().decrypt(with: short) }
        #expect(error?.code == .wrongKeyLength)
    }
}
