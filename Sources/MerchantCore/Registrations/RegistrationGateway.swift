package import Vocabulary

/// Calls Apple's Web Merchant Registration API. The gateway retries a call only if this is safe. Each call ends within
/// ``RegistrationCall/timeLimit``, including retries.
package protocol RegistrationGateway: Sendable {
    /// `registerMerchant`: adds domains to a registration, or creates the registration.
    func register(_ request: GatewayRegistration) async throws(GatewayError) -> GatewayReceipt
    /// `unregisterMerchant`: removes domains. Apple removes the registration together with its last domain.
    ///
    /// - Parameter reason: at most 1024 characters.
    func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName], reason: String
    ) async throws(GatewayError)
    /// `getDetails`: reads Apple's record of a registration.
    ///
    /// - Returns: nil if Apple has no record of the merchant. Apple reports this with status 400, as it does for a
    ///   malformed request.
    func details(of partner: PartnerInternalMerchantIdentifier) async throws(GatewayError) -> GatewayDetails?
    /// Whether calls to Apple are possible now. Do not use this property in a read transaction, because it may itself
    /// read the client certificate from the store.
    var health: GatewayHealth { get }
    /// Whether calls to Apple are paused after failures. This part of ``health`` is known without reading the store.
    var circuitHealth: GatewayHealth { get }
}

extension RegistrationGateway {
    package var circuitHealth: GatewayHealth { health }
}

/// The fields of Apple's `RegisterMerchantRequest`.
package struct GatewayRegistration: Hashable, Sendable {
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// At most 1024 characters.
    package let partnerMerchantName: String
    package let domainNames: [DomainName]
    /// The identifier whose payment processing certificate Apple encrypts tokens to. Apple gets the identifier, not its
    /// hash.
    package let encryptTo: MerchantIdentifier
    /// The merchant's website. Apple does not verify it.
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
    /// The domains in Apple's spelling.
    package let domainNames: [String]
    /// SHA-256 of the identifier given at registration, in Apple's spelling (upper-case hexadecimal).
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

/// Apple's confirmation of a call.
package struct GatewayReceipt: Hashable, Sendable {
    /// Whether an earlier attempt of the call got no response. That attempt may still reach Apple, even after later
    /// calls.
    package let anotherAttemptMayArrive: Bool

    package init(anotherAttemptMayArrive: Bool) { self.anotherAttemptMayArrive = anotherAttemptMayArrive }
}

/// Why a call to Apple failed.
package struct GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// 400: the request is malformed, or `unregister` names a merchant that is not registered.
        case refused
        /// 401: Apple does not authorize the client certificate. Also used if Apple refuses the certificate in the TLS
        /// handshake.
        case unauthorized
        /// 403: Apple does not permit the operation for this merchant or token.
        case forbidden
        /// 404: Apple does not know the merchant token or its event.
        case notFound
        /// 409: the operation requires another operation before it.
        case conflict
        /// 417: the platform is not registered with Apple Developer.
        case platformNotRegistered
        /// 429: Apple limits the rate of requests.
        case rateLimited
        /// 5xx: Apple's server failed.
        case failedAtApple
        /// A response that Apple does not document: a redirect, a body that is not JSON, a body that is too large.
        case unexpectedResponse
        /// No connection, or the request could not be sent.
        case unreachable
        /// The request was sent, but no response was received. Only a call of `details` shows the outcome.
        case responseNotReceived
        /// The server's certificate does not chain to a trusted root or is for another name.
        case serverUntrusted
        /// There is no client certificate to present, or it has expired or cannot be read.
        case identityUnusable
        /// Apple failed so often that calls are paused.
        case circuitOpen
    }

    package let kind: Kind
    /// What failed and why, in lower case, without secrets.
    package let detail: String
    /// The HTTP status, if there was a response.
    package let status: Int?
    /// Apple's `statusMessage` or `errorMessage`, in printable ASCII. Use it only to classify an error; ``detail``
    /// quotes the beginning of it.
    package let appleMessage: String?
    /// Apple's `x-keystone-correlationid`, which Apple's support asks for.
    package let correlationIdentifier: String?
    /// Seconds until a repeat may succeed: from `Retry-After`, or until calls are no longer paused.
    package let retryAfter: Int?
    /// The number of attempts whose outcome is unknown: Apple may have performed them, or may still perform them.
    package private(set) var uncertainAttempts: Int

    /// Whether Apple may have performed the call.
    package var mayHaveActed: Bool { uncertainAttempts > 0 }

    package init(
        _ kind: Kind, _ detail: String, status: Int? = nil, appleMessage: String? = nil,
        correlationIdentifier: String? = nil, retryAfter: Int? = nil, mayHaveActed: Bool
    ) {
        self.kind = kind
        self.detail = detail
        self.status = status
        self.appleMessage = appleMessage
        self.correlationIdentifier = correlationIdentifier
        self.retryAfter = retryAfter
        uncertainAttempts = mayHaveActed ? 1 : 0
    }

    /// This error with `earlier` added to its ``uncertainAttempts``. Used for the error of a call's last attempt: Apple
    /// may have performed one of the earlier attempts, even if the last attempt certainly failed.
    package func adding(uncertainAttempts earlier: Int) -> GatewayError {
        var error = self
        error.uncertainAttempts += earlier
        return error
    }

    package var description: String { "\(kind.rawValue): \(detail)" }
}

/// Whether calls to Apple are possible.
package enum GatewayHealth: Hashable, Sendable {
    /// Calls are not paused, and there is a client certificate.
    case available
    /// There is no client certificate that can be presented, for this reason.
    case notConfigured(String)
    /// Apple failed repeatedly. Calls are paused until the time `until`.
    case circuitOpen(until: Timestamp, lastError: String)
}
