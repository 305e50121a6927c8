import Crypto
import CryptoExtras
import FoundationEssentials
import PaymentToken
import Testing
import Vocabulary

@Suite("Rejecting a signature")
struct SignatureRejectionTests {
    typealias Name = TokenVerification.CheckName

    /// A defect of a token and the checks that must fail for it. All other checks must pass or not be made.
    struct Defect: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fails: Set<Name>
        /// The reason of one of the failed checks; nil for any.
        var reason: FailureReason?
        var version = ApplePayToken.Version.ecV1
        let change: @Sendable (inout TestMint) throws -> Void
    }

    static let defects: [Defect] = [
        // The structure of the message.
        Defect(testDescription: "two signers", fails: [.structure], reason: .wrongSignerCount(2)) {
            $0.signerCount = 2
        },
        Defect(testDescription: "no signer", fails: [.structure], reason: .wrongSignerCount(0)) { $0.signerCount = 0 },
        Defect(testDescription: "trailing bytes", fails: [.structure], reason: .trailingBytes) {
            $0.trailing = [0, 0]
        },
        Defect(testDescription: "attached content", fails: [.structure], reason: .attachedContent) {
            $0.attachedContent = [1, 2, 3]
        },
        Defect(testDescription: "attached empty content", fails: [.structure], reason: .attachedContent) {
            $0.attachedContent = []
        },
        Defect(testDescription: "another content type", fails: [.structure], reason: .wrongContentType) {
            $0.contentType = "1.2.3"
        },
        Defect(testDescription: "SHA-1", fails: [.structure], reason: .wrongDigestAlgorithm) {
            $0.digestAlgorithm = "1.3.14.3.2.26"
        },
        Defect(testDescription: "digest parameters", fails: [.structure], reason: .wrongDigestAlgorithm) {
            $0.digestParameters = DER.octets([1])
        },
        Defect(testDescription: "ECDSA with SHA-1", fails: [.structure], reason: .wrongSignatureAlgorithm) {
            $0.signatureAlgorithm = "1.2.840.10045.4.1"
        },
        Defect(testDescription: "RSA's algorithm in an EC token", fails: [.structure], reason: .wrongSignatureAlgorithm)
        {
            $0.signatureAlgorithm = "1.2.840.113549.1.1.11"
        },
        Defect(testDescription: "EC's algorithm in an RSA token", fails: [.structure], reason: .wrongSignatureAlgorithm)
        {
            $0.version = .rsaV1
            $0.signatureAlgorithm = "1.2.840.10045.4.3.2"
        },
        Defect(
            testDescription: "another algorithm in CMSAlgorithmProtection", fails: [.structure],
            reason: .algorithmProtectionMismatch
        ) {
            $0.protectedSignatureAlgorithm = "1.2.840.113549.1.1.11"
        },
        Defect(testDescription: "no signed attributes", fails: [.structure]) { $0.changeAttributes = { _ in [] } },
        Defect(testDescription: "no contentType", fails: [.structure], reason: .invalidContentTypeAttribute) {
            $0.changeAttributes = { Array($0.dropFirst()) }
        },
        Defect(
            testDescription: "contentType with another value", fails: [.structure], reason: .invalidContentTypeAttribute
        ) {
            $0.changeAttributes = { [TestMint.attribute("1.2.840.113549.1.9.3", DER.oid("1.2.3"))] + $0.dropFirst() }
        },
        Defect(testDescription: "contentType twice", fails: [.structure], reason: .invalidContentTypeAttribute) {
            $0.changeAttributes = { [$0[0]] + $0 }
        },
        Defect(testDescription: "no signingTime", fails: [.structure], reason: .invalidSigningTimeAttribute) {
            $0.changeAttributes = { [$0[0]] + $0.dropFirst(2) }
        },
        Defect(
            testDescription: "signingTime with two values", fails: [.structure], reason: .invalidSigningTimeAttribute
        ) {
            let time = $0.signingTime
            $0.changeAttributes = {
                [$0[0], TestMint.attribute("1.2.840.113549.1.9.5", time, time)] + $0.dropFirst(2)
            }
        },
        Defect(
            testDescription: "signingTime on a day that does not exist", fails: [.structure],
            reason: .invalidSigningTimeAttribute
        ) {
            $0.signingTime = DER.element(0x17, Array("230229000000Z".utf8))
        },
        Defect(testDescription: "signingTime with an offset", fails: [.structure], reason: .invalidSigningTimeAttribute)
        {
            $0.signingTime = DER.element(0x17, Array("231114221320+0000".utf8))
        },
        Defect(testDescription: "no messageDigest", fails: [.structure], reason: .invalidMessageDigestAttribute) {
            $0.changeAttributes = { $0.dropLast() }
        },
        Defect(testDescription: "messageDigest twice", fails: [.structure], reason: .invalidMessageDigestAttribute) {
            $0.changeAttributes = { $0 + [$0[$0.count - 1]] }
        },
        Defect(testDescription: "a short messageDigest", fails: [.structure], reason: .invalidMessageDigestAttribute) {
            $0.changeAttributes = { $0.dropLast() + [TestMint.attribute("1.2.840.113549.1.9.4", DER.octets([1]))] }
        },
        // The content.
        Defect(testDescription: "applicationData missing from the signed content", fails: [.messageDigest]) {
            $0.applicationData = "order 4711"
            $0.changeSignedContent = { $0.dropLast(32) }
        },
        Defect(testDescription: "key material signed as Base64", fails: [.messageDigest]) {
            $0.changeSignedContent = { Array(Data($0.prefix(91)).base64EncodedString().utf8) + $0.dropFirst(91) }
        },
        Defect(testDescription: "content signed in another order", fails: [.messageDigest]) {
            $0.changeSignedContent = { Array($0.dropFirst(91) + $0.prefix(91)) }
        },
        Defect(testDescription: "transactionId and applicationData signed in reverse order", fails: [.messageDigest]) {
            $0.applicationData = "order 4711"
            $0.changeSignedContent = { Array($0.dropLast(64) + $0.suffix(32) + $0.dropLast(32).suffix(32)) }
        },
        Defect(testDescription: "transactionId signed as text", fails: [.messageDigest]) {
            $0.changeSignedContent = { $0.dropLast(32) + Array(Hex.encode($0.suffix(32)).utf8) }
        },
        // The certificates.
        Defect(testDescription: "no certificates", fails: [.structure], reason: .wrongSigningCertificateCount(0)) {
            $0.changeCertificates = { _ in [] }
        },
        Defect(testDescription: "no signing certificate", fails: [.structure], reason: .wrongSigningCertificateCount(0))
        {
            $0.changeCertificates = { $0.suffix(1) }
        },
        Defect(
            testDescription: "the signing certificate twice", fails: [.structure],
            reason: .wrongSigningCertificateCount(2)
        ) {
            $0.changeCertificates = { [$0[0]] + $0 }
        },
        Defect(
            testDescription: "no intermediate", fails: [.markerExtensions, .certificateChain],
            reason: .wrongIntermediateCount(0)
        ) {
            $0.changeCertificates = { $0.prefix(1) + [try TestAuthority.shared.trustRoot.derRepresentation] }
        },
        Defect(
            testDescription: "two intermediates", fails: [.markerExtensions, .certificateChain],
            reason: .wrongIntermediateCount(2)
        ) {
            $0.changeCertificates = {
                var second = TestAuthority.shared.intermediate
                second.serial = [0x03]
                return $0 + [try TestAuthority.shared.signedByRoot(second)]
            }
        },
        Defect(
            testDescription: "no marker on the signing certificate", fails: [.markerExtensions],
            reason: .missingMarkerExtensions(signingCertificate: true, intermediate: false)
        ) {
            $0.changeLeaf = { $0.markers = [] }
        },
        Defect(
            testDescription: "no marker on the intermediate", fails: [.markerExtensions],
            reason: .missingMarkerExtensions(signingCertificate: false, intermediate: true)
        ) {
            $0.changeIntermediate = { $0.markers = [] }
        },
        Defect(
            testDescription: "swapped markers", fails: [.markerExtensions],
            reason: .missingMarkerExtensions(signingCertificate: true, intermediate: true)
        ) {
            $0.changeLeaf = { $0.markers = [TestAuthority.intermediateMarker] }
            $0.changeIntermediate = { $0.markers = [TestAuthority.leafMarker] }
        },
        Defect(
            testDescription: "the marker of another CA of Apple", fails: [.markerExtensions],
            reason: .missingMarkerExtensions(signingCertificate: false, intermediate: true)
        ) {
            $0.changeIntermediate = { $0.markers = ["1.2.840.113635.100.6.2.15"] }
        },
        Defect(testDescription: "another root of the same name", fails: [.certificateChain]) {
            $0.authority = TestAuthority()
        },
        Defect(testDescription: "another root of the same name, included in the token", fails: [.certificateChain]) {
            let authority = TestAuthority()
            $0.authority = authority
            $0.changeCertificates = { $0 + [try authority.trustRoot.derRepresentation] }
        },
        Defect(testDescription: "another intermediate of the same name", fails: [.certificateChain]) {
            $0.changeCertificates = { [$0[0], try TestAuthority.shared.signedByRoot(TestAuthority().intermediate)] }
        },
        Defect(
            testDescription: "an intermediate that is not a CA", fails: [.certificateChain],
            reason: .invalidChain(.notCertificateAuthority)
        ) {
            $0.changeIntermediate = { $0.isCertificateAuthority = false }
        },
        Defect(testDescription: "an intermediate that may not sign certificates", fails: [.certificateChain]) {
            $0.changeIntermediate = { $0.keyUsage = [0x07, 0x80] }
        },
        Defect(
            testDescription: "a signing certificate that may not sign", fails: [.certificateChain],
            reason: .wrongSigningKeyUsage
        ) {
            $0.changeLeaf = { $0.keyUsage = [0x05, 0x20] }
        },
        Defect(
            testDescription: "an expired signing certificate", fails: [.certificateChain],
            reason: .invalidChain(.expired)
        ) {
            $0.changeLeaf = { $0.notAfter = "231114221319Z" }
        },
        Defect(
            testDescription: "a signing certificate not yet valid", fails: [.certificateChain],
            reason: .invalidChain(.notYetValid)
        ) {
            $0.changeLeaf = { $0.notBefore = "231114221321Z" }
        },
        Defect(testDescription: "an expired intermediate", fails: [.certificateChain], reason: .invalidChain(.expired))
        {
            $0.changeIntermediate = { $0.notAfter = "231114221319Z" }
        },
        Defect(
            testDescription: "a signing certificate with a key of the other type", fails: [.signature],
            reason: .wrongSigningKeyType
        ) {
            let key = Array(try TestAuthority.shared.rsaKey.publicKey.derRepresentation)
            $0.changeLeaf = { $0.publicKey = key }
        },
        Defect(testDescription: "a signing certificate with another key", fails: [.signature]) {
            $0.changeLeaf = { $0.publicKey = Array(P256.Signing.PrivateKey().publicKey.derRepresentation) }
        },
        Defect(
            testDescription: "a signing certificate with an invalid key", fails: [.signature, .certificateChain],
            reason: .wrongSigningKeyType
        ) {
            $0.changeLeaf = { $0.publicKey[$0.publicKey.count - 1] ^= 1 }
        },
        Defect(
            testDescription: "a signing certificate with a key of an unknown type",
            fails: [.signature, .certificateChain]
        ) {
            $0.changeLeaf = { $0.publicKey = DER.sequence(DER.sequence(DER.oid("1.2.3")), DER.bits([1])) }
        },
        // The signing time.
        Defect(testDescription: "signed long before", fails: [.signingTime], reason: .outsideTimeWindow) {
            $0.signingTime = DER.element(0x17, Array("221114221320Z".utf8))
        },
        Defect(testDescription: "signed in the future", fails: [.signingTime]) {
            $0.signingTime = DER.element(0x17, Array("231114222320Z".utf8))
        },
    ]

    @Test("A token with a defect fails exactly the checks for that defect", arguments: defects)
    func defect(_ defect: Defect) throws {
        let verifier = try Self.warmVerifier()
        var mint = TestMint(version: defect.version)
        try defect.change(&mint)
        let verification = verifier.verify(try mint.token(), receivedAt: TestMint.signedAt)
        let failed = verification.checks.filter { $0.outcome == .failed }
        #expect(Set(failed.map(\.name)) == defect.fails, "\(verification.checks)")
        if let reason = defect.reason { #expect(failed.contains { $0.failureReason == reason }, "\(failed)") }
        #expect(!verification.isVerified)
    }

    /// Changes of one part after the token was signed.
    static let changes: [(String, @Sendable (inout TestMint.Parts) -> Void)] = [
        ("data", { $0.data[0] ^= 1 }),
        ("tag", { $0.data[$0.data.count - 1] ^= 1 }),
        ("transactionId", { $0.transactionId[31] ^= 1 }),
        ("applicationData", { $0.applicationDataHash?[0] ^= 1 }),
        ("applicationData removed", { $0.applicationDataHash = nil }),
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

    @Test(
        "A token with a changed part fails the check of its message digest", arguments: changes.indices,
        ApplePayToken.Version.allCases)
    func changedPart(_ index: Int, _ version: ApplePayToken.Version) throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint(version: version, applicationData: "order 4711").parts()
        Self.changes[index].1(&parts)
        let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
        #expect(verification.unpassedChecks.map(\.name) == [.messageDigest], "\(Self.changes[index].0)")
    }

    @Test(
        "A token with the signature of another token fails the check of its message digest",
        arguments: ApplePayToken.Version.allCases)
    func otherSignature(_ version: ApplePayToken.Version) throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint(version: version).parts()
        parts.signature = try TestMint(version: version, applicationData: "x").parts().signature
        let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
        #expect(verification.unpassedChecks.map(\.name) == [.messageDigest])
    }

    @Test("An RSA token that was changed to an EC token fails the check of its structure")
    func otherVersion() throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint(version: .rsaV1).parts()
        parts.version = "EC_v1"
        parts.keyMaterial = Array(P256.KeyAgreement.PrivateKey().publicKey.derRepresentation)
        let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
        #expect(verification.unpassedChecks.first?.name == .structure)
    }

    @Test("A token whose signature is not a CMS message fails the check of its structure; no other check is made")
    func notCMS() throws {
        let verifier = try Self.warmVerifier()
        var parts = try TestMint().parts()
        for signature in [
            [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0x30, count: 4000), Array(parts.signature.dropLast()),
        ] {
            parts.signature = signature
            let verification = verifier.verify(try parts.token(), receivedAt: TestMint.signedAt)
            #expect(verification[.structure].outcome == .failed)
            #expect(verification.unpassedChecks.count == Name.allCases.count)
            #expect(verification.signingTime == nil)
        }
    }

    /// Returns a verifier with both valid chains in its cache, so that `verify` also makes the fast check.
    static func warmVerifier() throws -> SignatureVerifier {
        let verifier = SignatureVerifier(
            environment: TokenEnvironment.production, trustRoots: [try TestAuthority.shared.trustRoot])
        for version in ApplePayToken.Version.allCases {
            let token = try TestMint(version: version).token()
            #expect(verifier.verify(token, receivedAt: TestMint.signedAt).isVerified)
            #expect(verifier.verifyWithCachedChain(token, receivedAt: TestMint.signedAt) != nil)
        }
        return verifier
    }
}
