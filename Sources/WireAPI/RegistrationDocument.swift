/// A merchant's registration with Apple as `GET /v1/registrations/{partnerInternalMerchantIdentifier}` shows it.
package struct RegistrationDocument: Codable, Hashable, Sendable {
    package let partnerInternalMerchantIdentifier: String
    /// `registered`, `unregistered`, or `unsettled` while nobody knows the outcome of a call to Apple.
    package let state: String
    /// `mirror`: what is wanted; `apple`: what Apple answered just now.
    package let source: String
    package let partnerMerchantName: String
    /// Current ones only.
    package let domainNames: [String]
    /// nil where Apple has another, of which only the hash is known.
    package let encryptTo: String?
    /// SHA-256 of `encryptTo`, upper-case hexadecimal, as Apple's details spell it.
    package let encryptToHash: String
    package let merchantUrl: String?
    /// The merchant record it belongs to.
    package let merchantIdentifier: String?
    /// When Apple last said what it has; nil while it was never asked.
    package let learnedAt: String?
    /// Seconds since then.
    package let ageSeconds: Int?
    /// How Apple's record, as of `learnedAt`, differs from what is wanted.
    package let drift: [DriftDocument]
    package let createdAt: String
    package let changedAt: String
    package let warnings: [String]

    package init(
        partnerInternalMerchantIdentifier: String, state: String, source: String, partnerMerchantName: String,
        domainNames: [String], encryptTo: String?, encryptToHash: String, merchantUrl: String?,
        merchantIdentifier: String?, learnedAt: String?, ageSeconds: Int?, drift: [DriftDocument], createdAt: String,
        changedAt: String, warnings: [String]
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.state = state
        self.source = source
        self.partnerMerchantName = partnerMerchantName
        self.domainNames = domainNames
        self.encryptTo = encryptTo
        self.encryptToHash = encryptToHash
        self.merchantUrl = merchantUrl
        self.merchantIdentifier = merchantIdentifier
        self.learnedAt = learnedAt
        self.ageSeconds = ageSeconds
        self.drift = drift
        self.createdAt = createdAt
        self.changedAt = changedAt
        self.warnings = warnings
    }
}

/// One way in which Apple's record differs from what is wanted.
package struct DriftDocument: Codable, Hashable, Sendable {
    /// `missingDomain`, `extraDomain`, `otherName`, `otherEncryptTo` or `gone`.
    package let kind: String
    /// What Apple has: a domain, a name, a hash.
    package let found: String?
    /// What is wanted.
    package let expected: String?

    package init(kind: String, found: String?, expected: String?) {
        self.kind = kind
        self.found = found
        self.expected = expected
    }
}

/// What `DELETE /v1/registrations/{partnerInternalMerchantIdentifier}` did, or as a dry run would do.
package struct WithdrawalDocument: Codable, Hashable, Sendable {
    package let dryRun: Bool
    /// Those that are removed.
    package let domainNames: [String]
    package let warnings: [String]
    package let registration: RegistrationDocument

    package init(dryRun: Bool, domainNames: [String], warnings: [String], registration: RegistrationDocument) {
        self.dryRun = dryRun
        self.domainNames = domainNames
        self.warnings = warnings
        self.registration = registration
    }
}

/// What `POST /v1/registrations/sync` found on its stretch of the registrations.
package struct SyncDocument: Codable, Hashable, Sendable {
    /// One registration that differs, or could not be compared.
    package struct Finding: Codable, Hashable, Sendable {
        package let partnerInternalMerchantIdentifier: String
        package let drift: [DriftDocument]
        /// nil where nothing was to be mended.
        package let mended: Bool?
        /// What is left after mending; without mending the same as `drift`.
        package let remaining: [DriftDocument]
        /// Why it could not be compared or mended.
        package let failure: FailureDocument?

        package init(
            partnerInternalMerchantIdentifier: String, drift: [DriftDocument], mended: Bool?,
            remaining: [DriftDocument], failure: FailureDocument?
        ) {
            self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
            self.drift = drift
            self.mended = mended
            self.remaining = remaining
            self.failure = failure
        }
    }

    package let repair: Bool
    package let compared: Int
    package let findings: [Finding]
    /// Why Apple was asked no further.
    package let halted: FailureDocument?
    /// What to pass as `cursor` to go on; nil at the end.
    package let nextCursor: String?

    package init(
        repair: Bool, compared: Int, findings: [Finding], halted: FailureDocument?, nextCursor: String?
    ) {
        self.repair = repair
        self.compared = compared
        self.findings = findings
        self.halted = halted
        self.nextCursor = nextCursor
    }
}

/// A refusal or failure inside a larger answer.
package struct FailureDocument: Codable, Hashable, Sendable {
    /// As in a problem.
    package let code: String
    package let detail: String
    /// Seconds until asking again can help.
    package let retryAfter: Int?

    package init(code: String, detail: String, retryAfter: Int?) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }
}
