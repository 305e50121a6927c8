import Crypto
import FoundationEssentials
import PassProvisioning
import Testing
import Vocabulary

/// A way to encrypt card data that differs from EV_ECC_v2, with the codes of all findings about it.
struct SchemeFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let codes: [String]
    let scheme: TestPass.Scheme

    init(_ testDescription: String, _ codes: [String], _ scheme: TestPass.Scheme) {
        self.testDescription = testDescription
        self.codes = codes
        self.scheme = scheme
    }

    private static let algorithm = TestPass.Scheme.algorithm
    private static let partyU = TestPass.Scheme.partyU

    static let all: [SchemeFault] = [
        SchemeFault("IV of 16 bytes", ["iv16Bytes"], TestPass.Scheme(ivLength: 16)),
        SchemeFault("tag first", ["tagFirst"], TestPass.Scheme(isTagFirst: true)),
        SchemeFault("empty PartyV", ["partyVEmpty"], .partyV { _ in [] }),
        SchemeFault(
            "SubjectPublicKeyInfo", ["partyVSubjectPublicKeyInfo"], .partyV { Array($0.derRepresentation) }),
        SchemeFault(
            "hash of the point", ["partyVHash"], .partyV { Array(SHA256.hash(data: $0.x963Representation)) }),
        SchemeFault(
            "hash of the SubjectPublicKeyInfo", ["partyVHash"],
            .partyV { Array(SHA256.hash(data: $0.derRepresentation)) }),
        SchemeFault("compressed point", ["partyVOtherForm"], .partyV { Array($0.compressedRepresentation) }),
        SchemeFault("64 bytes", ["partyVOtherForm"], .partyV { Array($0.rawRepresentation) }),
        SchemeFault("X coordinate", ["partyVOtherForm"], .partyV { Array($0.rawRepresentation.prefix(32)) }),
        SchemeFault("hexadecimal", ["partyVOtherForm"], .partyV { Array(Hex.encode($0.x963Representation).utf8) }),
        SchemeFault(
            "Base64", ["partyVOtherForm"], .partyV { Array($0.x963Representation.base64EncodedString().utf8) }),
        SchemeFault(
            "Apple's key", ["partyVRecipientKey"],
            .partyV { _ in Array(TestPass.leafKey.publicKey.x963Representation) }),
        SchemeFault(
            "no length byte", ["algorithmWithoutLength"],
            TestPass.Scheme(parts: { [nil, algorithm, partyU, Array($0.x963Representation)] })),
        SchemeFault(
            "algorithm before the secret", ["algorithmBeforeSecret"],
            TestPass.Scheme(parts: { [[0x0D], algorithm, nil, partyU, Array($0.x963Representation)] })),
        SchemeFault("the secret as the key", ["noKeyDerivation"], TestPass.Scheme(isSecretKey: true)),
        SchemeFault(
            "IV of 16 bytes and empty PartyV", ["partyVEmpty", "iv16Bytes"],
            TestPass.Scheme(ivLength: 16, parts: { _ in TestPass.Scheme.parts(partyV: []) })),
    ]
}
