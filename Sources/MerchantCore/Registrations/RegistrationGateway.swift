package import Vocabulary

/// Apple's Web Merchant Registration API as the use cases need it. Each call is one exchange with Apple, repeated by the
/// gateway only where a repeat is safe, and over within ``RegistrationCall/longest``.
package protocol RegistrationGateway: Sendable {
    /// `registerMerchant`: adds domains to a registration, or makes it.
    func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt
    /// `unregisterMerchant`: removes domains; with the last one the registration is gone.
    ///
    /// - Parameter reason: at most 1024 characters.
    func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError)
    /// `getDetails`. Apple answers 400 for an unknown merchant, as for a malformed request.
    ///
    /// - Returns: nil where Apple knows no such merchant.
    func details(of partner: PartnerInternalMerchantIdentifier) async throws(GatewayError) -> GatewayDetails?
    /// Whether Apple can be asked at present. Looks for an identity, so it may read the store: not for inside of a read.
    var health: GatewayHealth { get }
    /// Whether calls to Apple are paused after failures: the part of ``health`` that is known without reading anything.
    var circuitHealth: GatewayHealth { get }
}

extension RegistrationGateway {
    package var circuitHealth: GatewayHealth { health }
}

/// The fields of `RegisterMerchantRequest`.
package struct GatewayRegistration: Hashable, Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// At most 1024 characters.
    package let partnerMerchantName: String
    package let domainNames: [DomainName]
    /// Whose payment processing certificate encrypts the tokens; goes to Apple in plain text.
    package let encryptTo: MerchantIdentifier
    /// The merchant's own site, not verified.
    package let merchantUrl: String?

    package init(
        partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier, partnerMerchantName: String,
        domainNames: [DomainName], encryptTo: MerchantIdentifier, merchantUrl: String?
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.partnerMerchantName = partnerMerchantName
        self.domainNames = domainNames
        self.encryptTo = encryptTo
        self.merchantUrl = merchantUrl
    }
}

/// Apple's `MerchantDetails`.
package struct GatewayDetails: Hashable, Sendable {
    package let partnerInternalMerchantIdentifier: String
    package let partnerMerchantName: String
    /// As Apple spells them.
    package let domainNames: [String]
    /// SHA-256 of the identifier given at registration, as Apple spells it (upper-case hexadecimal).
    package let encryptTo: String

    package init(
        partnerInternalMerchantIdentifier: String, partnerMerchantName: String, domainNames: [String],
        encryptTo: String
    ) {
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.partnerMerchantName = partnerMerchantName
        self.domainNames = domainNames
        self.encryptTo = encryptTo
    }
}

/// Apple's yes to a call.
package struct GatewayReceipt: Hashable, Sendable {
    /// Whether an earlier try got no answer: it may still be on its way, and reach Apple after whatever is asked next.
    package let mayArriveAgain: Bool

    package init(mayArriveAgain: Bool) { self.mayArriveAgain = mayArriveAgain }
}

/// Why a call did not end as asked.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// 400: malformed, or for unregister a merchant that is not registered.
        case refused
        /// 401: the client certificate has no permission, or the handshake refused it.
        case unauthorized
        /// 417: the platform is not registered with Apple Developer (some wrappers: domains not verified).
        case platformNotRegistered
        /// 429.
        case rateLimited
        /// 5xx.
        case failedAtApple
        /// An answer outside of Apple's documentation: a redirect, a body that is no JSON, one too large.
        case unexpectedAnswer
        /// No connection, or none that got the request out.
        case unreachable
        /// The request was sent and no response was received: only `details` shows its outcome.
        case answerLost
        /// The server's certificate does not chain to a trusted root or is for another name.
        case serverUntrusted
        /// There is no identity to present, or it has ended or cannot be read.
        case identityUnusable
        /// Apple failed so often that it is not asked for a while.
        case circuitOpen
    }

    package let kind: Kind
    /// What was found and expected, in lower case, with nothing secret.
    package let detail: String
    /// HTTP status, where there was an answer.
    package let status: Int?
    /// Apple's `x-keystone-correlationid`, which Apple's support asks for.
    package let correlationIdentifier: String?
    /// Seconds, from `Retry-After`, or until the circuit closes.
    package let retryAfter: Int?
    /// How many of the call's tries Apple may have acted on all the same, or may yet: each that got no answer.
    package private(set) var uncertainTries: Int

    /// Whether Apple may have done what was asked all the same.
    package var mayHaveActed: Bool { uncertainTries > 0 }

    package init(
        _ kind: Kind, _ detail: String, status: Int? = nil, correlationIdentifier: String? = nil,
        retryAfter: Int? = nil, mayHaveActed: Bool
    ) {
        self.kind = kind
        self.detail = detail
        self.status = status
        self.correlationIdentifier = correlationIdentifier
        self.retryAfter = retryAfter
        uncertainTries = mayHaveActed ? 1 : 0
    }

    /// The error of a last try, for a call of which Apple may have acted on so many tries before: what the last one is
    /// certain of says nothing of those.
    package func following(uncertainTries earlier: Int) -> GatewayError {
        var error = self
        error.uncertainTries += earlier
        return error
    }

    package var description: String { "\(kind.rawValue): \(detail)" }
}

/// Whether Apple can be asked.
package enum GatewayHealth: Hashable, Sendable {
    /// The last exchange succeeded, or there was none yet.
    case available
    /// Not set up: no identity to present.
    case notConfigured(String)
    /// Apple failed repeatedly and is left alone until then.
    case circuitOpen(until: Timestamp, lastError: String)
}
