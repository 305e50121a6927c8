import Foundation
import MerchantTestSupport
import PaymentToken
import Vocabulary

extension DifferentialTests {
    /// Returns the cases in an order that depends on the seed only. Keys and signatures are different in each run.
    static func cases() throws -> [Case] {
        var generator = SeededGenerator(seed: MutationTests.seed &+ 7)
        var makers = validMakers
        makers += SignatureTests.accepted.map { accepted in
            (accepted.0, { _ in try mint { accepted.1(&$0) } })
        }
        makers += SignatureRejectionTests.defects.map { defect in
            (
                defect.testDescription,
                { _ in
                    var mint = TestMint(version: defect.version)
                    try defect.change(&mint)
                    return try mint.parts().json
                }
            )
        }
        makers += (PartChange.ofToken + PartChange.ofMessage + PartChange.ofCertificates).map { change in
            (
                change.testDescription,
                { generator in
                    var parts = try TestMint(version: version(&generator), applicationData: applicationData(&generator))
                        .parts()
                    try change.change(&parts)
                    return parts.json
                }
            )
        }
        makers += TokenParsingTests.defects.map { defect in
            (
                defect.testDescription,
                { _ in
                    var parts = try TestMint().parts()
                    defect.change(&parts)
                    return defect.rewrite(parts.json)
                }
            )
        }
        var cases: [Case] = []
        let now = Int(TestMint.signedAt.millisecondsSince1970 / 1000)
        while cases.count < count {
            // One third of the tokens is valid at its signing time, one sixth is mutated, the rest is from all makers.
            let remainder = cases.count % 6
            let maker =
                remainder < 2
                ? validMakers[cases.count / 6 % validMakers.count]
                : remainder == 2 ? ("mutated", mutated) : makers[(cases.count / 6 * 3 + remainder - 3) % makers.count]
            let offset = remainder == 0 && cases.count % 5 == 0 ? [-301, -300, 300, 301][cases.count / 30 % 4] : 0
            cases.append(
                Case(kind: "\(maker.0), \(offset) s", token: try maker.1(&generator), receivedAt: now + offset))
        }
        return cases
    }

    typealias Maker = (String, @Sendable (inout SeededGenerator) throws -> String)

    private static func mint(_ change: (inout TestMint) -> Void) throws -> String {
        var mint = TestMint()
        change(&mint)
        return try mint.parts().json
    }

    private static func version(_ generator: inout SeededGenerator) -> ApplePayToken.Version {
        Bool.random(using: &generator) ? .ecV1 : .rsaV1
    }

    private static func applicationData(_ generator: inout SeededGenerator) -> String? {
        Bool.random(using: &generator) ? "order \(UInt16.random(in: 0...9999, using: &generator))" : nil
    }

    /// Makers of valid tokens: every kind of payment data in both versions, with and without applicationData.
    private static let validMakers: [Maker] = validPlaintexts.flatMap { plaintext in
        ApplePayToken.Version.allCases.map { valid($0, plaintext) }
    }

    private static let validPlaintexts = [
        TestMint.plaintext, PaymentDataTests.complete, TestMint.plaintext.replacing(":100,", with: ":\"0100\","),
        TestMint.plaintext.replacing("3DSecure", with: "EMV").replacing("onlinePaymentCryptogram", with: "emvData"),
    ]

    private static func valid(_ version: ApplePayToken.Version, _ plaintext: String) -> Maker {
        (
            "valid \(version.rawValue)",
            { generator in
                try TestMint(version: version, plaintext: plaintext, applicationData: applicationData(&generator))
                    .parts().json
            }
        )
    }

    private static func mutated(_ generator: inout SeededGenerator) throws -> String {
        var parts = try TestMint(version: version(&generator), applicationData: applicationData(&generator)).parts()
        let other = try TestMint(version: version(&generator)).parts()
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: parts.data = generator.mutated(parts.data, splicing: other.data)
        case 1: parts.keyMaterial = generator.mutated(parts.keyMaterial, splicing: other.keyMaterial)
        case 2: parts.signature = other.signature
        default: parts.signature = generator.mutated(parts.signature, splicing: other.signature)
        }
        return parts.json
    }
}
