import OutboundHTTP

/// The reason why an attempt to deliver an event failed.
///
/// `status` and the log show the text, so it never contains the webhook's URL, which may contain a secret.
struct DeliveryFailure: Error, CustomStringConvertible {
    let description: String
    /// The pause that the receiver asked for in `Retry-After`; nil if it asked for none.
    let retryAfter: Duration?

    init(_ description: String, retryAfter: Duration? = nil) {
        self.description = description
        self.retryAfter = retryAfter
    }

    init(_ error: any Error) {
        switch error {
        case let failure as DeliveryFailure: self = failure
        case let failure as OutboundFailure: self.init(Self.describe(failure))
        case let error as HostResolutionError: self.init(Self.describe(error))
        // The text of a library's error can be long, so only its beginning is kept.
        default: self.init(String("\(type(of: error)): \(error)".prefix(300)))
        }
    }

    private static func describe(_ failure: OutboundFailure) -> String {
        switch failure {
        case .unreachable(let reason): "no connection: \(reason)"
        case .responseLost(let reason), .notHTTP(let reason), .clientCertificateRefused(let reason),
            .identityUnusable(let reason):
            reason
        case .serverUntrusted(let server): server.description
        case .responseTooLarge(let limit): "the response has more than \(limit) bytes"
        case .requestTooLarge(let limit): "the request has more than \(limit) bytes"
        case .timedOut: "no response within the time limit"
        case .cancelled: "the delivery was cancelled"
        }
    }

    private static func describe(_ error: HostResolutionError) -> String {
        switch error {
        case .notResolved(let reason): "the host's name cannot be resolved: \(reason)"
        case .noAddress: "the host's name has no address"
        case .internalAddress(let address):
            "the host has the internal address \(address); use a host with a public address, or set 'allow-internal-addresses'"
        case .timedOut: "the host's name was not resolved within the time limit"
        }
    }
}
