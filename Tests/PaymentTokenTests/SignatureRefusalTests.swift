import Crypto
import CryptoExtras
import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Refusing a signature")
struct SignatureRefusalTests {
    typealias Name = TokenVerification.CheckName

    /// One thing wrong with a token, and the checks that must fail for it; all others must pass or have nothing to judge.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fails: Set<Name>
        var says = ""
        var version = ApplePayToken.Version.ecV1
        let change: @Sendable (inout TestMint) throws -> Void
    }

    static func stranger() -> TestAuthority { TestAuthority() }

    static let minted: [Wrong] = [
        // The message's form.
        Wrong(testDescription: "two signers", fails: [.structure], says: "2 signers") { $0.signerCount = 2 },
        Wrong(testDescription: "no signer", fails: [.structure], says: "0 signers") { $0.signerCount = 0 },
        Wrong(testDescription: "trailing bytes", fails: [.structure], says: "2 bytes after") { $0.trailing = [0, 0] },
        Wrong(testDescription: "attached content", fails: [.structure], says: "content inside") {
            $0.attachedContent = [1, 2, 3]
        },
        Wrong(testDescription: "attached empty content", fails: [.structure], says: "content inside") {
            $0.attachedContent = []
        },
        Wrong(testDescription: "another content type", fails: [.structure], says: "content type 1.2.3") {
            $0.contentType = "1.2.3"
        },
        Wrong(testDescription: "SHA-1", fails: [.structure], says: "digest algorithm 1.3.14.3.2.26") {
            $0.digestAlgorithm = "1.3.14.3.2.26"
        },
        Wrong(testDescription: "digest parameters", fails: [.structure], says: "without parameters") {
            $0.digestParameters = DER.octets([1])
        },
        Wrong(testDescription: "ECDSA with SHA-1", fails: [.structure], says: "signature algorithm") {
            $0.signatureAlgorithm = "1.2.840.10045.4.1"
        },
        Wrong(testDescription: "RSA's algorithm in an EC token", fails: [.structure], says: "in a token of EC_v1") {
            $0.signatureAlgorithm = "1.2.840.113549.1.1.11"
        },
        Wrong(testDescription: "EC's algorithm in an RSA token", fails: [.structure], says: "in a token of RSA_v1") {
            $0.version = .rsaV1
            $0.signatureAlgorithm = "1.2.840.10045.4.3.2"
        },
        Wrong(testDescription: "another algorithm protected", fails: [.structure], says: "CMSAlgorithmProtection") {
            $0.protectedSignatureAlgorithm = "1.2.840.113549.1.1.11"
        },
        Wrong(testDescription: "no signed attributes", fails: [.structure]) { $0.changeAttributes = { _ in [] } },
        Wrong(testDescription: "no contentType", fails: [.structure], says: "contentType") {
            $0.changeAttributes = { Array($0.dropFirst()) }
        },
        Wrong(testDescription: "contentType of another kind", fails: [.structure], says: "contentType") {
            $0.changeAttributes = { [TestMint.attribute("1.2.840.113549.1.9.3", DER.oid("1.2.3"))] + $0.dropFirst() }
        },
        Wrong(testDescription: "contentType twice", fails: [.structure], says: "contentType") {
            $0.changeAttributes = { [$0[0]] + $0 }
        },
        Wrong(testDescription: "no signingTime", fails: [.structure], says: "signingTime") {
            $0.changeAttributes = { [$0[0]] + $0.dropFirst(2) }
        },
        Wrong(testDescription: "signingTime of two values", fails: [.structure], says: "signingTime") {
            let time = $0.signingTime
            $0.changeAttributes = {
                [$0[0], TestMint.attribute("1.2.840.113549.1.9.5", time, time)] + $0.dropFirst(2)
            }
        },
        Wrong(testDescription: "signingTime on a day that is none", fails: [.structure], says: "signingTime") {
            $0.signingTime = DER.element(0x17, Array("230229000000Z".utf8))
        },
        Wrong(testDescription: "signingTime with an offset", fails: [.structure], says: "signingTime") {
            $0.signingTime = DER.element(0x17, Array("231114221320+0000".utf8))
        },
        Wrong(testDescription: "no messageDigest", fails: [.structure], says: "messageDigest") {
            $0.changeAttributes = { $0.dropLast() }
        },
        Wrong(testDescription: "messageDigest twice", fails: [.structure], says: "messageDigest") {
            $0.changeAttributes = { $0 + [$0[$0.count - 1]] }
        },
        Wrong(testDescription: "a short messageDigest", fails: [.structure], says: "messageDigest") {
            $0.changeAttributes = { $0.dropLast() + [TestMint.attribute("1.2.840.113549.1.9.4", DER.octets([1]))] }
        },
        // The content.
        Wrong(testDescription: "applicationData left out of what was signed", fails: [.messageDigest]) {
            $0.applicationData = "order 4711"
            $0.changeSignedContent = { $0.dropLast(32) }
        },
        Wrong(testDescription: "the key material as Base64", fails: [.messageDigest]) {
            $0.changeSignedContent = { Array(Data($0.prefix(91)).base64EncodedString().utf8) + $0.dropFirst(91) }
        },
        Wrong(testDescription: "the content in another order", fails: [.messageDigest]) {
            $0.changeSignedContent = { Array($0.dropFirst(91) + $0.prefix(91)) }
        },
        Wrong(testDescription: "identifier and applicationData exchanged", fails: [.messageDigest]) {
            $0.applicationData = "order 4711"
            $0.changeSignedContent = { Array($0.dropLast(64) + $0.suffix(32) + $0.dropLast(32).suffix(32)) }
        },
        Wrong(testDescription: "the identifier as text", fails: [.messageDigest]) {
            $0.changeSignedContent = { $0.dropLast(32) + Array(Hex.encode($0.suffix(32)).utf8) }
        },
        // The certificates.
        Wrong(testDescription: "no certificates", fails: [.structure], says: "0 certificates of the signer") {
            $0.changeCertificates = { _ in [] }
        },
        Wrong(testDescription: "no signing certificate", fails: [.structure], says: "0 certificates of the signer") {
            $0.changeCertificates = { $0.suffix(1) }
        },
        Wrong(
            testDescription: "the signing certificate twice", fails: [.structure], says: "2 certificates of the signer"
        ) {
            $0.changeCertificates = { [$0[0]] + $0 }
        },
        Wrong(testDescription: "no intermediate", fails: [.markers, .certificateChain], says: "0 intermediate") {
            $0.changeCertificates = { $0.prefix(1) + [try TestAuthority.shared.trustRoot.derRepresentation] }
        },
        Wrong(testDescription: "two intermediates", fails: [.markers, .certificateChain], says: "2 intermediate") {
            $0.changeCertificates = {
                var second = TestAuthority.shared.intermediate
                second.serial = [0x03]
                return $0 + [try TestAuthority.shared.signedByRoot(second)]
            }
        },
        Wrong(testDescription: "no marker on the signing certificate", fails: [.markers], says: "6.29") {
            $0.changeLeaf = { $0.markers = [] }
        },
        Wrong(testDescription: "no marker on the intermediate", fails: [.markers], says: "6.2.14") {
            $0.changeIntermediate = { $0.markers = [] }
        },
        Wrong(testDescription: "swapped markers", fails: [.markers], says: "6.2.14") {
            $0.changeLeaf = { $0.markers = [TestAuthority.intermediateMarker] }
            $0.changeIntermediate = { $0.markers = [TestAuthority.leafMarker] }
        },
        Wrong(testDescription: "the marker of another Apple authority", fails: [.markers], says: "6.2.14") {
            $0.changeIntermediate = { $0.markers = ["1.2.840.113635.100.6.2.15"] }
        },
        Wrong(testDescription: "another root of the same name", fails: [.certificateChain]) {
            $0.authority = stranger()
        },
        Wrong(testDescription: "another root of the same name, sent along", fails: [.certificateChain]) {
            let authority = stranger()
            $0.authority = authority
            $0.changeCertificates = { $0 + [try authority.trustRoot.derRepresentation] }
        },
        Wrong(testDescription: "another intermediate of the same name", fails: [.certificateChain]) {
            $0.changeCertificates = { [$0[0], try TestAuthority.shared.signedByRoot(stranger().intermediate)] }
        },
        Wrong(testDescription: "an intermediate that is no authority", fails: [.certificateChain], says: "CA") {
            $0.changeIntermediate = { $0.isAuthority = false }
        },
        Wrong(testDescription: "an intermediate that may not sign certificates", fails: [.certificateChain]) {
            $0.changeIntermediate = { $0.keyUsage = [0x07, 0x80] }
        },
        Wrong(
            testDescription: "a signing certificate that may not sign", fails: [.certificateChain],
            says: "digitalSignature"
        ) {
            $0.changeLeaf = { $0.keyUsage = [0x05, 0x20] }
        },
        Wrong(testDescription: "a signing certificate that had ended", fails: [.certificateChain], says: "expired") {
            $0.changeLeaf = { $0.notAfter = "231114221319Z" }
        },
        Wrong(testDescription: "a signing certificate not yet valid", fails: [.certificateChain], says: "not yet valid")
        {
            $0.changeLeaf = { $0.notBefore = "231114221321Z" }
        },
        Wrong(testDescription: "an intermediate that had ended", fails: [.certificateChain], says: "expired") {
            $0.changeIntermediate = { $0.notAfter = "231114221319Z" }
        },
        Wrong(
            testDescription: "a signing certificate of the other kind of key", fails: [.signature],
            says: "without an elliptic-curve key"
        ) {
            let key = Array(try TestAuthority.shared.rsaKey.publicKey.derRepresentation)
            $0.changeLeaf = { $0.publicKey = key }
        },
        Wrong(testDescription: "a signing certificate of another key", fails: [.signature]) {
            $0.changeLeaf = { $0.publicKey = Array(P256.Signing.PrivateKey().publicKey.derRepresentation) }
        },
        Wrong(
            testDescription: "a signing certificate whose key does not decode", fails: [.signature, .certificateChain],
            says: "can be read"
        ) {
            $0.changeLeaf = { $0.publicKey[$0.publicKey.count - 1] ^= 1 }
        },
        Wrong(
            testDescription: "a signing certificate with a key of a kind unknown",
            fails: [.signature, .certificateChain]
        ) {
            $0.changeLeaf = { $0.publicKey = DER.sequence(DER.sequence(DER.oid("1.2.3")), DER.bits([1])) }
        },
        // The time.
        Wrong(testDescription: "signed long before", fails: [.signingTime], says: "2022-11-14T22:13:20Z") {
            $0.signingTime = DER.element(0x17, Array("221114221320Z".utf8))
        },
        Wrong(testDescription: "signed in the future", fails: [.signingTime]) {
            $0.signingTime = DER.element(0x17, Array("231114222320Z".utf8))
        },
    ]

    @Test("of a token with", arguments: minted)
    func mintedWrong(_ wrong: Wrong) throws {
        let verifier = try Self.warmVerifier()
        var mint = TestMint(version: wrong.version)
        try wrong.change(&mint)
        let verification = verifier.verify(try mint.token(), receivedAt: TestMint.signedAt)
        let failed = verification.checks.filter { $0.outcome == .failed }
        #expect(Set(failed.map(\.name)) == wrong.fails, "\(verification.checks)")
        #expect(failed.contains { $0.finding.contains(wrong.says) } || wrong.says.isEmpty, "\(failed)")
        #expect(!verification.isVerified)
    }

    /// One part exchanged after signing.
    static let exchanged: [(String, @Sendable (inout TestMint.Parts) -> Void)] = [
        ("data", { $0.data[0] ^= 1 }),
        ("tag", { $0.data[$0.data.count - 1] ^= 1 }),
        ("transactionId", { $0.transactionId[31] ^= 1 }),
        ("applicationData", { $0.applicationDataHash?[0] ^= 1 }),
        ("applicationData taken away", { $0.applicationDataHash = nil }),
        (
            "data moved into transactionId",
            { parts in
                parts.data.append(parts.transactionId[0])
                parts.transactionId = Array(parts.transactionId.dropFirst()) + [0]
            }
        ),
        (
            "key material",
            { parts in
                parts.keyMaterial =
                    parts.version == "EC_v1"
                    ? Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation) : parts.keyMaterial.reversed()
            }
        ),
    ]

    @Test("of a token whose parts were exchanged", arguments: exchanged.indices, ApplePayToken.Version.allCases)
    func exchangedPart(_ index: Int, _ version: ApplePayToken.Version) throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint(version: version, applicationData: "order 4711").parts()
        Self.exchanged[index].1(&parts)
        let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
        #expect(verification.refusals.map(\.name) == [.messageDigest], "\(Self.exchanged[index].0)")
    }

    @Test("of a token that carries another token's signature", arguments: ApplePayToken.Version.allCases)
    func otherSignature(_ version: ApplePayToken.Version) throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint(version: version).parts()
        parts.signature = try TestMint(version: version, applicationData: "x").parts().signature
        let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
        #expect(verification.refusals.map(\.name) == [.messageDigest])
    }

    @Test("of a token under the other version's name")
    func otherVersion() throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint(version: .rsaV1).parts()
        parts.version = "EC_v1"
        parts.keyMaterial = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
        #expect(verification.refusals.first?.name == .structure)
    }

    @Test("of a token whose signature is no CMS message")
    func junk() throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint().parts()
        for junk in [
            [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0x30, count: 4000), Array(parts.signature.dropLast()),
        ] {
            parts.signature = junk
            let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
            #expect(verification[.structure].outcome == .failed)
            #expect(verification.refusals.count == Name.allCases.count)
            #expect(verification.signingTime == nil)
        }
    }

    /// A verifier that remembers both right chains, so that refusals hold for the short way too.
    static func warmVerifier() throws -> SignatureVerifier {
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        for version in ApplePayToken.Version.allCases {
            let token = try TestMint(version: version).token()
            #expect(verifier.verify(token, receivedAt: TestMint.signedAt).isVerified)
            #expect(verifier.verifyByMemory(token, receivedAt: TestMint.signedAt) != nil)
        }
        return verifier
    }
}
