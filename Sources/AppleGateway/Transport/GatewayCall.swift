import Foundation
import MerchantCore
import OutboundHTTP

/// One call to Apple's gateway, and the limits for its repeats.
struct GatewayCall {
    let operation: GatewayOperation
    let owner: IdentityOwner
    /// nil if the URL cannot be built.
    let url: URL?
    /// nil for the method GET.
    let body: Data?
    let limits: GatewayCallLimits
    /// Headers in addition to those of every call.
    var headers: [(name: String, value: String)] = []

    init(
        _ operation: GatewayOperation, as owner: IdentityOwner, _ url: URL?, _ body: Data?, _ limits: GatewayCallLimits
    ) {
        self.operation = operation
        self.owner = owner
        self.url = url
        self.body = body
        self.limits = limits
    }
}

/// How much time a call and its attempts have.
struct GatewayCallLimits {
    /// The limit for the whole call, with repeats and the pauses before them.
    let call: Duration
    /// The limit for one attempt, from its start to the end of the response.
    let attempt: Duration
    /// A call is repeated only if at least this much of ``call`` is left after the pause.
    let shortestAttempt: Duration
    let retries: RetryPolicy
}

/// The operations of Apple's gateway.
enum GatewayOperation: String, CaseIterable {
    // The Web Merchant Registration API.
    case registerMerchant, unregisterMerchant, getDetails
    /// Apple Pay on the Web.
    case requestSession
    // The Merchant Token Management API.
    case merchantTokenEvent, unlinkMerchantToken, updateMerchantMetadata, merchantTokenPublicKey, notifyMerchantToken

    /// When an attempt may be repeated.
    enum Repetition {
        /// After every transient failure, because a second call changes nothing.
        case always
        /// After a transient failure, if Apple certainly did not act on the attempt.
        case unlessPerformed
        /// Only if Apple could not be reached, and no part of the request was sent.
        case unlessSent
    }

    var api: GatewayAPI {
        switch self {
        case .registerMerchant, .unregisterMerchant, .getDetails: .registration
        case .requestSession: .sessions
        case .merchantTokenEvent, .unlinkMerchantToken, .updateMerchantMetadata, .merchantTokenPublicKey,
            .notifyMerchantToken:
            .merchantTokens
        }
    }

    /// Whether an attempt without a response may have had an effect at Apple.
    var changesState: Bool {
        switch self {
        case .getDetails, .merchantTokenEvent, .merchantTokenPublicKey: false
        case .registerMerchant, .unregisterMerchant, .requestSession, .unlinkMerchantToken, .updateMerchantMetadata,
            .notifyMerchantToken:
            true
        }
    }

    /// Registering the same domains again changes nothing. Unregistering is different: if the first call removed the
    /// last domain, Apple refuses the second one, and that refusal looks like any other. A buyer waits for a session,
    /// so a session call is not repeated after Apple received it.
    private var repetition: Repetition {
        switch self {
        case .requestSession: .unlessSent
        case .unregisterMerchant: .unlessPerformed
        case .registerMerchant, .getDetails, .merchantTokenEvent, .unlinkMerchantToken, .updateMerchantMetadata,
            .merchantTokenPublicKey, .notifyMerchantToken:
            .always
        }
    }

    /// Whether an attempt that failed with this error may be repeated.
    func mayBeRepeated(after failure: GatewayError) -> Bool {
        switch repetition {
        case .always: failure.isTransient
        case .unlessPerformed: failure.isTransient && !failure.mayHaveActed
        case .unlessSent: failure.kind == .unreachable && !failure.mayHaveActed
        }
    }
}

/// A group of operations. Failures of one group do not stop the calls of another.
enum GatewayAPI: Hashable, CaseIterable {
    case registration, sessions, merchantTokens
}
