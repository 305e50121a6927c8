import Crypto
import FoundationEssentials
import NIOHTTP1
import Vocabulary

/// Implements Apple's gateway: authenticates the client, injects faults, and carries out calls of the Web Merchant
/// Registration API. ``PaymentSessionService`` and ``MerchantTokenService`` carry out the other calls. Requests to the
/// broker go to ``BrokerEndpoint``, without a client certificate and without faults.
///
/// ``SandboxGateway`` connects the service to a socket.
struct GatewayService: Sendable {
    struct Request: Sendable {
        let method: HTTPMethod
        /// The path as sent, percent-encoded.
        let uri: String
        let headers: HTTPHeaders
        let body: [UInt8]
        /// The client certificate in DER; nil if the client presented none.
        let clientCertificate: [UInt8]?
    }

    /// The pause before each byte of a response with the fault `trickle`.
    private static let tricklePause = Duration.milliseconds(100)

    let clientCertificateVerifier: ClientCertificateVerifier
    let registrations: RegistrationStore
    let sessions: PaymentSessionService
    let merchantTokens: MerchantTokenService
    let faults: FaultInjector
    let tally: CallTally
    /// The limit of calls per second; nil for no limit.
    let limit: RateLimit?
    /// The verifier of domains; nil if domains are not verified.
    let domainVerifier: DomainVerifier?
    /// The delay of a response with the fault `slow`.
    let slowReplyDelay: Duration
    /// The broker for in-app provisioning; nil for none.
    let broker: BrokerEndpoint?

    func reply(to request: Request) async -> GatewayReply {
        var reply = await replyWithoutCorrelationIdentifier(to: request)
        reply.headers.replaceOrAdd(name: "x-keystone-correlationid", value: UUID().uuidString)
        return reply
    }

    private func replyWithoutCorrelationIdentifier(to request: Request) async -> GatewayReply {
        // Devices send cards to the broker without a client certificate.
        if let broker, request.method == .POST, Self.isBrokerPath(request.uri) {
            return broker.reply(to: request.body)
        }
        let client: GatewayClient
        do { client = try clientCertificateVerifier.client(with: request.clientCertificate, at: .now) } catch {
            return .error(401, GatewayReply.unauthorizedMessage, details: "\(error)")
        }
        guard let route = GatewayRoute(request.method, request.uri) else {
            return .error(404, "Payment Services Exception Not Found", details: "unknown method or path")
        }
        let operation = route.operation
        tally.count(operation)
        if let limit, !limit.admits(at: .now) { return Self.reply(withoutCarryingOut: .status429) }
        let fault = faults.fault(for: operation)
        if let fault, !fault.carriesOutCall { return Self.reply(withoutCarryingOut: fault) }
        let reply = await carryOut(route, request, from: client)
        return fault.map { apply($0, to: reply) } ?? reply
    }

    /// Whether this is the path to which a device sends a card: `/broker/v4/devices/ID/cards`.
    private static func isBrokerPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 6 && parts[..<4] == ["", "broker", "v4", "devices"] && !parts[4].isEmpty
            && parts[5] == "cards"
    }

    private func carryOut(_ route: GatewayRoute, _ request: Request, from client: GatewayClient) async -> GatewayReply {
        do {
            switch route.operation {
            case .registerMerchant: return try await register(RegistrationRequest(request.body), for: client)
            case .unregisterMerchant:
                let body = try RegistrationRequest(request.body)
                try body.requireReason()
                return try registrations.unregister(body.identifier, body.domainNames)
                    ? .empty : .malformed("the merchant is not registered")
            case .getDetails: return details(route.parameters.first ?? "")
            case .paymentSession: return try sessions.reply(to: request.body, from: client, at: .now)
            case .merchantTokenEvent, .unlink, .updateMerchantMetadata, .publicKey, .notify:
                return merchantTokens.reply(to: route.operation, route.parameters, request, from: client)
            }
        } catch {
            return .malformed("\(error)")
        }
    }

    private func register(_ body: RegistrationRequest, for client: GatewayClient) async throws -> GatewayReply {
        let merchant = try body.merchant(registeredBy: client)
        if let domainVerifier {
            for domain in body.domainNames {
                // Apple's response for an unverified domain is not documented; 400 is its status for other invalid
                // requests.
                if let reason = await domainVerifier.rejectionReason(for: domain) {
                    return .malformed("\(domain): \(reason)")
                }
            }
        }
        return try registrations.register(merchant)
            ? .empty : .malformed("the merchant would have more than \(RegistrationStore.maximumDomainCount) domains")
    }

    private func details(_ identifier: String) -> GatewayReply {
        guard let merchant = registrations.merchant(identifier) else {
            return .malformed("the merchant is not registered")
        }
        return .json(.ok, DetailsDocument(merchant))
    }

    /// Apple's `MerchantDetails`.
    private struct DetailsDocument: Encodable {
        let partnerInternalMerchantIdentifier: String
        let partnerMerchantName: String
        let domainNames: [String]
        let encryptTo: String
        let partnerMerchantValidationURI = "/.well-known/apple-developer-merchantid-domain-association"
        /// Not documented, but present in responses of Apple's production environment.
        let delegatedCommerce = ["enabled": false]

        init(_ merchant: RegisteredMerchant) {
            partnerInternalMerchantIdentifier = merchant.partnerInternalMerchantIdentifier
            partnerMerchantName = merchant.partnerMerchantName
            domainNames = merchant.domainNames
            // Apple's response contains only the SHA-256 hash of the identifier.
            encryptTo = Hex.encode(Array(SHA256.hash(data: Array(merchant.encryptTo.utf8)))).uppercased()
        }
    }

    /// Returns the response to a call that the gateway does not carry out because of a fault.
    private static func reply(withoutCarryingOut fault: GatewayFault.Kind) -> GatewayReply {
        switch fault {
        case .status401: return .error(401, GatewayReply.unauthorizedMessage)
        case .status403: return .error(403, "Payment Services Exception Forbidden")
        case .status417: return .error(417, "Payment Services Exception Expectation Failed")
        case .status429:
            var reply = GatewayReply.error(429, "Payment Services Exception Too Many Requests")
            reply.headers.add(name: "Retry-After", value: "1")
            return reply
        case .redirect:
            return GatewayReply(status: .found, headers: ["Location": "https://elsewhere.invalid/"])
        case .reset: return GatewayReply(status: .ok, delivery: .reset)
        // Only status500 is left, because the gateway carries out the calls with other faults.
        default: return .error(500, "Payment Services Exception Internal Server Error")
        }
    }

    /// Returns the response after a fault, for a call that was carried out.
    private func apply(_ fault: GatewayFault.Kind, to reply: GatewayReply) -> GatewayReply {
        var reply = reply
        switch fault {
        case .slow: reply.delay = slowReplyDelay
        case .hang: reply.delivery = .hang
        case .status500AfterActing: return .error(500, "Payment Services Exception Internal Server Error")
        case .malformed: reply = GatewayReply(status: .ok, body: Array(#"{"domainNames": ["#.utf8))
        case .empty: reply = .empty
        case .large: reply = GatewayReply(status: .ok, body: [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20))
        case .html:
            reply = GatewayReply(
                status: .ok, headers: ["Content-Type": "text/html"],
                body: Array("<!DOCTYPE html><title>Sign in</title><p>Sign in to use this network.</p>".utf8))
        case .trickle: reply.delivery = .trickle(Self.tricklePause)
        case .resetAfterActing: reply.delivery = .reset
        case .answerLost: reply.delivery = .close
        // Calls with these faults are not carried out, so they do not get here.
        case .status401, .status403, .status417, .status429, .status500, .redirect, .reset: break
        }
        return reply
    }
}
