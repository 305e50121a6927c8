import WireAPI

/// Documents as a daemon sends them.
enum Samples {
    static let hash = "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls="
    static let hashInPath = "aXryfzzhfHFLCl-guEkcYpVd1R-mPYEmmeu1N4aR2Ls"
    static let otherHash = "cA7n/gpsa5yxOZ/wECCXUqU+hrre+Sjq4RxEwAIqWGM="
    static let otherHashInPath = "cA7n_gpsa5yxOZ_wECCXUqU-hrre-Sjq4RxEwAIqWGM"
    static let csr = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"

    static func merchant(
        _ identifier: String = "merchant.com.example", name: String? = "Example",
        createdAt: String = "2026-11-21T04:53:15Z"
    ) -> MerchantDocument {
        MerchantDocument(
            merchantIdentifier: identifier, merchantIdentifierHash: String(repeating: "ab", count: 32), name: name,
            targetActiveKeyPairs: 2, activeKeyPairs: 1, createdAt: createdAt)
    }

    static func key(_ hash: String = hash, state: String = "current", csr: String? = nil) -> KeyDocument {
        KeyDocument(
            publicKeyHash: hash, merchantIdentifier: "merchant.com.example", algorithm: "EC_v1",
            purpose: "paymentProcessing", state: state, origin: "generated", createdAt: "2026-11-21T04:53:15Z",
            stateSince: "2026-11-21T04:53:15Z", notBefore: nil, notAfter: "2028-12-20T00:00:00.5Z",
            revocationReason: nil, destroyAfter: nil, exportedAt: nil, certificates: [], csr: csr)
    }

    static func move(dryRun: Bool, from: String = "current", to: String = "revoked") -> KeyTransitionDocument {
        KeyTransitionDocument(
            dryRun: dryRun, transitions: [.init(publicKeyHash: hash, from: from, to: to)],
            warnings: ["one active key is left"], key: key(state: dryRun ? from : to))
    }

    static func status(_ severities: [String]) -> StatusDocument {
        StatusDocument(
            version: "1", environment: "production", time: "2026-11-21T04:53:15Z", startedAt: "2026-11-21T04:00:00Z",
            merchants: 3, merchantsBelowTarget: 2,
            keyPairs: ["pending": 1, "standby": 1, "current": 2, "retiring": 3, "revoked": 4, "destroyed": 5],
            certificates: 6, auditRecords: 7, auditHead: nil, backups: nil,
            findings: severities.map {
                .init(
                    severity: $0, code: "c", detail: "7 subjects of \($0)", count: 7, countBySeverity: [$0: 7],
                    mostUrgent: [
                        .init(
                            severity: $0, detail: "one of 7", merchantIdentifier: "merchant.first", publicKeyHash: nil)
                    ])
            })
    }

    static func registration(
        _ partner: String = "shop|1", domains: [String] = ["a.example"], source: String = "mirror",
        drift: [DriftDocument] = [], warnings: [String] = [], name: String = "Shop"
    ) -> RegistrationDocument {
        RegistrationDocument(
            partnerInternalMerchantIdentifier: partner, state: domains.isEmpty ? "unregistered" : "registered",
            source: source, partnerMerchantName: name, domainNames: domains,
            encryptTo: "platformintegrator.com.example", encryptToHash: String(repeating: "AB", count: 32),
            merchantUrl: nil, merchantIdentifier: nil, learnedAt: "2026-11-21T04:53:15Z", ageSeconds: 300,
            drift: drift, createdAt: "2026-11-21T04:53:15Z", changedAt: "2026-11-21T04:53:15Z", warnings: warnings)
    }

    /// Reads as a token; its point is on the curve, its signature is none.
    static let paymentData =
        #"{"data":"AAECAwQFBgcICQoLDA0ODxAREhM=","signature":"AwQ=","header":{"publicKeyHash":"\#(hash)","ephemeralPublicKey":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXBmNoIo6rFDovMSy66eTAyouNqnWpx41puImWuD7n711chpx8n9Dto8Gdpjgmiaqn/9JVD3MuZt1maL5jKa0wA==","transactionId":"\#(transactionId)"},"version":"EC_v1"}"#

    static let transactionId = String(repeating: "0a", count: 32)

    static let plaintext =
        #"{"applicationPrimaryAccountNumber":"4784000000380075","transactionAmount":100,"paymentData":{"onlinePaymentCryptogram":"/x2gvNsADhptD1JXWRhcMAACAAA=","eciIndicator":"7"}}"#
}
