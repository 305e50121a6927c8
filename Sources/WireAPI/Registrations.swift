package import Vocabulary

extension Paths {
    package static let registrations = "/v1/registrations"
    package static let registrationSync = "/v1/registrations/sync"

    /// Encodes the identifier, because it may contain characters such as `/` that have a meaning in a path.
    package static func registration(_ partner: PartnerInternalMerchantIdentifier) -> String {
        "\(registrations)/\(PercentEncoding.encode(partner.rawValue))"
    }
}

/// A merchant's registration with Apple, as `GET /v1/registrations/{partnerInternalMerchantIdentifier}` returns it.
package struct RegistrationDocument: Codable, Hashable, Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// `registered`, `unregistered`, or `unsettled`: the outcome of a call to Apple is still unknown.
    package let state: String
    /// Where the state, the name, the domains and encryptTo in this document come from. `mirror`: from the daemon's
    /// database, which holds what should be registered (the desired state). `apple`: from Apple's record, read for this
    /// request.
    package let source: String
    package let partnerMerchantName: String
    /// The domains that are desired (`mirror`) or registered at Apple (`apple`).
    package var domainNames: [String] = []
    /// The identifier to whose certificate Apple encrypts the tokens. nil if Apple's record has another identifier than
    /// the desired state, because Apple reports only the identifier's hash.
    package var encryptTo: MerchantIdentifier?
    /// SHA-256 of the encryptTo identifier, in upper-case hexadecimal as Apple writes it. Present even if `encryptTo`
    /// is nil.
    package let encryptToHash: String
    package var merchantUrl: String?
    /// The merchant of this daemon that the registration belongs to; nil if it belongs to no such merchant.
    package var merchantIdentifier: MerchantIdentifier?
    /// When the daemon last read Apple's record; nil if the daemon never read it.
    package var learnedAt: Timestamp?
    /// Seconds since `learnedAt`.
    package var ageSeconds: Int?
    /// The differences between the desired state and Apple's record, as the daemon read it at `learnedAt`.
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
    /// `missingDomain`: Apple's record lacks a desired domain. `extraDomain`: Apple's record has a domain that is not
    /// desired. `otherName`, `otherEncryptTo`: Apple's record has another value. `gone`: Apple has no record of the
    /// merchant.
    package let kind: String
    /// The domain, name or hash in Apple's record.
    package let found: String?
    /// The domain, name or hash in the desired state.
    package let expected: String?

    package init(_ kind: String, found: String? = nil, expected: String? = nil) {
        (self.kind, self.found, self.expected) = (kind, found, expected)
    }
}

/// The result of unregistering domains: the response of
/// `DELETE /v1/registrations/{partnerInternalMerchantIdentifier}`.
package struct UnregistrationDocument: Codable, Hashable, Sendable {
    package var dryRun = false
    /// The domains that were removed, or in a dry run would be removed.
    package var domainNames: [String] = []
    package var warnings: [String] = []
    package let registration: RegistrationDocument

    package init(_ registration: RegistrationDocument) { self.registration = registration }
}

/// The response of `POST /v1/registrations/sync`, which compares one batch of registrations with Apple's records.
package struct SyncDocument: Codable, Hashable, Sendable {
    /// A registration that differs from Apple's record, or that could not be compared.
    package struct Finding: Codable, Hashable, Sendable {
        package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
        /// The differences that the comparison found, before any repair.
        package var drift: [DriftDocument] = []
        /// Whether a repair removed all differences; nil if no repair was attempted.
        package var repaired: Bool?
        /// The differences after the repair. Without a repair, they are the same as `drift`.
        package var remaining: [DriftDocument] = []
        /// Why the registration could not be compared or repaired; nil if there was no error.
        package var failure: FailureDocument?

        package init(_ partner: PartnerInternalMerchantIdentifier) { partnerInternalMerchantIdentifier = partner }
    }

    /// Whether the request asked the daemon to repair the differences at Apple.
    package var repair = false
    /// The number of registrations that were compared.
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
    /// After how many seconds a repeat of the request may succeed; nil if this is unknown.
    package let retryAfter: Int?

    package init(code: String, detail: String, retryAfter: Int?) {
        (self.code, self.detail, self.retryAfter) = (code, detail, retryAfter)
    }
}

/// The body of `POST /v1/registrations`, which registers a merchant with Apple or adds domains to a registration.
package struct RegisterRequest: RequestBody {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// Required for a new registration. If absent, an existing registration keeps its name.
    package var partnerMerchantName: String?
    /// 1 to 99 domains.
    package let domainNames: [DomainName]
    /// The identifier to whose certificate Apple encrypts the tokens. If absent, an existing registration keeps its
    /// identifier. A new registration gets the merchant's own identifier on the portal. On the admin socket it gets
    /// the platform integrator's identifier, and is refused unless the daemon has exactly one.
    package var encryptTo: MerchantIdentifier?
    package var merchantUrl: String?
    /// The merchant of this daemon that the registration belongs to.
    package var merchantIdentifier: MerchantIdentifier?

    package init(_ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName]) {
        (partnerInternalMerchantIdentifier, self.domainNames) = (partner, domainNames)
    }
}

/// The body of `DELETE /v1/registrations/{partnerInternalMerchantIdentifier}`.
package struct UnregisterRequest: RequestBody {
    /// The domains to unregister; if absent, all domains.
    package var domainNames: [DomainName]?
    /// 1 to 1024 bytes. The daemon sends the reason to Apple.
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// The body of `POST /v1/registrations/sync`. If the body is empty, the daemon compares the first 100 registrations
/// with Apple's records and repairs nothing.
package struct SyncRequest: RequestBody {
    /// Whether to change Apple's records that differ from what should be registered.
    package var repair: Bool?
    /// How many registrations to compare, 1 to 1000; default 100.
    package var limit: Int?
    /// The `nextCursor` of the previous batch.
    package var cursor: PartnerInternalMerchantIdentifier?

    package init() {}
}
