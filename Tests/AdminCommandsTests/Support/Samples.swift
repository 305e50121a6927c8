import Vocabulary
import WireAPI

/// Documents like those of a daemon.
enum Samples {
    static let hash = "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls="
    static let hashInPath = "aXryfzzhfHFLCl-guEkcYpVd1R-mPYEmmeu1N4aR2Ls"
    static let otherHash = "cA7n/gpsa5yxOZ/wECCXUqU+hrre+Sjq4RxEwAIqWGM="
    static let otherHashInPath = "cA7n_gpsa5yxOZ_wECCXUqU-hrre-Sjq4RxEwAIqWGM"
    static let csr = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"

    /// The creation time in the documents.
    static let time: Timestamp = "2026-11-21T04:53:15Z"

    static func merchant(
        _ identifier: MerchantIdentifier = "merchant.com.example", name: String? = "Example",
        createdAt: Timestamp = time
    ) -> MerchantDocument {
        var document = MerchantDocument(identifier, createdAt: createdAt)
        document.name = name
        document.targetActiveKeyPairs = 2
        document.activeKeyPairs = 1
        return document
    }

    static func key(_ hash: String = hash, state: KeyState = .current, csr: String? = nil) -> KeyDocument {
        var document = KeyDocument(
            PublicKeyHash(stringLiteral: hash), of: "merchant.com.example", algorithm: .ecV1,
            purpose: .paymentProcessing, origin: "generated", createdAt: time, state: state, since: time)
        document.notAfter = "2028-12-20T00:00:00.5Z"
        document.csr = csr
        return document
    }

    static func transition(
        dryRun: Bool, from: KeyState = .current, to: KeyState = .revoked
    ) -> KeyTransitionDocument {
        var document = KeyTransitionDocument(key(state: dryRun ? from : to))
        document.dryRun = dryRun
        document.transitions = [.init(PublicKeyHash(stringLiteral: hash), from: from, to: to)]
        document.warnings = ["one active key is left"]
        return document
    }

    static func status(_ severities: [String]) -> StatusDocument {
        var document = StatusDocument(
            version: "1", environment: .production, at: time, startedAt: "2026-11-21T04:00:00Z")
        document.merchants = 3
        document.merchantsBelowTarget = 2
        document.keyPairs = ["pending": 1, "standby": 1, "current": 2, "retiring": 3, "revoked": 4, "destroyed": 5]
        document.certificates = 6
        document.auditRecords = 7
        document.findings = severities.map { severity in
            var finding = StatusDocument.Finding(severity: severity, code: "c", detail: "7 subjects of \(severity)")
            var item = StatusDocument.Finding.Item(severity: severity, detail: "one of 7")
            item.merchantIdentifier = "merchant.first"
            finding.count = 7
            finding.countBySeverity = [severity: 7]
            finding.mostUrgent = [item]
            return finding
        }
        return document
    }

    static func registration(
        _ partner: String = "shop|1", domains: [String] = ["a.example"], source: String = "mirror",
        drift: [DriftDocument] = [], warnings: [String] = [], name: String = "Shop"
    ) -> RegistrationDocument {
        var document = RegistrationDocument(
            PartnerInternalMerchantIdentifier(stringLiteral: partner), name: name,
            encryptToHash: String(repeating: "AB", count: 32),
            state: domains.isEmpty ? "unregistered" : "registered", source: source, createdAt: time, changedAt: time)
        document.domainNames = domains
        document.encryptTo = "platformintegrator.com.example"
        document.learnedAt = time
        document.ageSeconds = 300
        document.drift = drift
        document.warnings = warnings
        return document
    }

    /// Can be parsed as a token: its point is on the curve, but its signature is not CMS.
    static let paymentData =
        #"{"data":"AAECAwQFBgcICQoLDA0ODxAREhM=","signature":"AwQ=","header":{"publicKeyHash":"\#(hash)","ephemeralPublicKey":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXBmNoIo6rFDovMSy66eTAyouNqnWpx41puImWuD7n711chpx8n9Dto8Gdpjgmiaqn/9JVD3MuZt1maL5jKa0wA==","transactionId":"\#(transactionId)"},"version":"EC_v1"}"#

    static let transactionId = String(repeating: "0a", count: 32)

    static let plaintext =
        #"{"applicationPrimaryAccountNumber":"4784000000380075","transactionAmount":100,"paymentData":{"onlinePaymentCryptogram":"/x2gvNsADhptD1JXWRhcMAACAAA=","eciIndicator":"7"}}"#
}
