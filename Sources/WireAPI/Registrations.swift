package import Vocabulary

extension Paths {
    package static let registrations = "/v1/registrations"
    package static let registrationSync = "/v1/registrations/sync"

    /// Percent-encoded, because the identifier may contain characters that have a meaning in a path.
    package static func registration(_ partner: PartnerInternalMerchantIdentifier) -> String {
        "\(registrations)/\(PercentEncoding.encode(partner.rawValue))"
    }
}

/// A merchant's registration with Apple, as `GET /v1/registrations/{partnerInternalMerchantIdentifier}` returns it.
package struct RegistrationDocument: Codable, Hashable, Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// `registered`, `unregistered`, or `unsettled` while the outcome of a call to Apple is unknown.
    package let state: String
    /// Where name, domains and encryptTo come from: `mirror` is the desired state that the daemon stores, and `apple`
    /// is Apple's response to this request.
    package let source: String
    package let partnerMerchantName: String
    /// The domains that are desired (`mirror`) or registered at Apple (`apple`).
    package var domainNames: [String] = []
    /// nil if Apple's record has another identifier than the daemon's, because Apple reports only a hash.
    package var encryptTo: MerchantIdentifier?
    /// SHA-256 of the encryptTo identifier in upper-case hexadecimal, as Apple writes it.
    package let encryptToHash: String
    package var merchantUrl: String?
    /// The merchant that the registration belongs to.
    package var merchantIdentifier: MerchantIdentifier?
    /// When the daemon last read Apple's record; nil before the first time.
    package var learnedAt: Timestamp?
    /// Seconds since `learnedAt`.
    package var ageSeconds: Int?
    /// The differences between the desired state and Apple's record, as of `learnedAt`.
    package var drift: [DriftDocument] = []
    package let createdAt: Timestamp
    package let changedAt: Timestamp
    package var warnings: [String] = []

    package init(
        _ partner: PartnerInternalMerchantIdentifier, name: String, encryptToHash: String, state: String,
        source: String, createdAt: Timestamp, changedAt: Timestamp
    ) {
        (partnerInternalMerchantIdentifier, partnerMerchantName, self.encryptToHash) = (partner, name, encryptToHash)
        (self.state, self.source) = (state, source)
        (self.createdAt, self.changedAt) = (createdAt, changedAt)
    }
}

/// One difference between the desired state and Apple's record.
package struct DriftDocument: Codable, Hashable, Sendable {
    /// `missingDomain`, `extraDomain`, `otherName`, `otherEncryptTo` or `gone`.
    package let kind: String
    /// What Apple's record has: a domain, a name or a hash.
    package let found: String?
    /// What the desired state has: a domain, a name or a hash.
    package let expected: String?

    package init(_ kind: String, found: String? = nil, expected: String? = nil) {
        (self.kind, self.found, self.expected) = (kind, found, expected)
    }
}

/// What `DELETE /v1/registrations/{partnerInternalMerchantIdentifier}` removed, or in a dry run would remove.
package struct WithdrawalDocument: Codable, Hashable, Sendable {
    package var dryRun = false
    /// The domains that were removed, or in a dry run would be removed.
    package var domainNames: [String] = []
    package var warnings: [String] = []
    package let registration: RegistrationDocument

    package init(_ registration: RegistrationDocument) { self.registration = registration }
}

/// What `POST /v1/registrations/sync` found in one batch of registrations.
package struct SyncDocument: Codable, Hashable, Sendable {
    /// One registration that differs, or could not be compared.
    package struct Finding: Codable, Hashable, Sendable {
        package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
        package var drift: [DriftDocument] = []
        /// Whether the differences were repaired; nil if no repair was requested, or none was needed.
        package var repaired: Bool?
        /// The differences after the repair. Without a repair, they are the same as `drift`.
        package var remaining: [DriftDocument] = []
        /// Why the registration could not be compared or repaired.
        package var failure: FailureDocument?

        package init(_ partner: PartnerInternalMerchantIdentifier) { partnerInternalMerchantIdentifier = partner }
    }

    package var repair = false
    package var compared = 0
    package var findings: [Finding] = []
    /// Why the daemon stopped before the end of the batch and sent Apple no further requests; nil if it did not stop.
    package var halted: FailureDocument?
    /// The `cursor` of the next batch; nil at the end.
    package var nextCursor: PartnerInternalMerchantIdentifier?

    package init() {}
}

/// An error inside a larger response.
package struct FailureDocument: Codable, Hashable, Sendable {
    /// The same codes as in ``Problem``.
    package let code: String
    package let detail: String
    /// Seconds after which a repeat can succeed.
    package let retryAfter: Int?

    package init(code: String, detail: String, retryAfter: Int?) {
        (self.code, self.detail, self.retryAfter) = (code, detail, retryAfter)
    }
}

/// `POST /v1/registrations`: registers a merchant with Apple, or adds domains to its registration.
package struct RegisterRequest: RequestBody {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// Required for a new registration. If absent, the name in the existing registration.
    package var partnerMerchantName: String?
    /// 1 to 99 domains.
    package let domainNames: [DomainName]
    /// If absent, the identifier in the existing registration, or else the platform's only integrator identifier.
    package var encryptTo: MerchantIdentifier?
    package var merchantUrl: String?
    /// The merchant that the registration belongs to.
    package var merchantIdentifier: MerchantIdentifier?

    package init(_ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName]) {
        (partnerInternalMerchantIdentifier, self.domainNames) = (partner, domainNames)
    }
}

/// `DELETE /v1/registrations/{partnerInternalMerchantIdentifier}`.
package struct UnregisterRequest: RequestBody {
    /// If absent, all domains are removed.
    package var domainNames: [DomainName]?
    /// 1 to 1024 bytes; sent to Apple.
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// `POST /v1/registrations/sync`. An empty body compares from the beginning and repairs nothing.
package struct SyncRequest: RequestBody {
    package var repair: Bool?
    /// How many registrations to compare, 1 to 1000; default 100.
    package var limit: Int?
    /// The `nextCursor` of the previous batch.
    package var cursor: PartnerInternalMerchantIdentifier?

    package init() {}
}
