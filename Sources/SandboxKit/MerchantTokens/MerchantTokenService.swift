import FoundationEssentials
import NIOHTTP1

/// Implements Apple's Merchant Token Management API.
struct MerchantTokenService: Sendable {
    /// The body of every request except the request for an event.
    private struct Body: Decodable {
        struct Metadata: Decodable {
            let tokenNotificationURL: String
        }

        let merchantTokenIdentifier: String
        let merchantMetadata: Metadata?
    }

    private static let longestMerchant = 64
    private static let longestToken = 64
    private static let longestURL = 256

    let store: MerchantTokenStore

    /// - Parameter parameters: the merchant's identifier; in a request for an event, also the event's identifier.
    func reply(
        to operation: GatewayOperation, _ parameters: [String], _ request: GatewayService.Request,
        from client: GatewayClient
    ) -> GatewayReply {
        // Apple's reference requires both headers, also for GET.
        for header in ["Content-Type", "x-request-id"] where request.headers.first(name: header)?.isEmpty ?? true {
            return Self.error(400, "the header \(header) is missing")
        }
        let merchant = parameters.first ?? ""
        guard (1...Self.longestMerchant).contains(merchant.utf8.count) else {
            return Self.error(400, "merchantId must have 1 to \(Self.longestMerchant) characters")
        }
        // A platform may act for any merchant, because Apple does not document which merchants belong to a platform.
        // The merchant of the token or event must be the one in the path.
        let isAuthorized = client.isPlatformIntegrator || client.isIdentity(of: merchant)
        if operation == .merchantTokenEvent {
            guard isAuthorized, let event = store.fetch(parameters.last ?? "", of: merchant) else {
                return Self.error(400, "the merchant has no event with this identifier")
            }
            return .text(.ok, event.body)
        }
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(request.body)),
            (1...Self.longestToken).contains(body.merchantTokenIdentifier.utf8.count)
        else { return Self.error(400, "the body has no merchantTokenIdentifier of 1 to 64 characters") }
        return reply(to: operation, body, of: merchant, isAuthorized: isAuthorized)
    }

    private func reply(
        to operation: GatewayOperation, _ body: Body, of merchant: String, isAuthorized: Bool
    ) -> GatewayReply {
        let token = body.merchantTokenIdentifier
        switch operation {
        case .unlink:
            guard isAuthorized, store.change(token, of: merchant, { $0.isLinked = false }) else {
                return Self.error(400, "the merchant has no such token")
            }
            return GatewayReply(status: .noContent)
        case .updateMerchantMetadata:
            guard let url = body.merchantMetadata?.tokenNotificationURL, (1...Self.longestURL).contains(url.utf8.count)
            else { return Self.error(400, "tokenNotificationURL must have 1 to \(Self.longestURL) characters") }
            guard isAuthorized, store.change(token, of: merchant, { $0.tokenNotificationURL = url }) else {
                return Self.error(400, "the merchant has no such token")
            }
            // Apple documents no status. This is the status of unlink.
            return GatewayReply(status: .noContent)
        default:
            guard isAuthorized else { return Self.error(403, "the client may not act for this merchant") }
            guard let known = store.token(token), known.merchantIdentifier == merchant else {
                return Self.error(404, "the merchant has no such token")
            }
            guard operation == .publicKey else {
                _ = store.change(token, of: merchant) { $0.usageNotifications += 1 }
                return .empty
            }
            return Self.publicKey(of: known)
        }
    }

    private static func publicKey(of token: SandboxMerchantToken) -> GatewayReply {
        guard token.tokenNotificationURL != nil else { return error(409, "set tokenNotificationURL first") }
        guard token.isPublicKeyReady else { return GatewayReply(status: .accepted) }
        var object = JSONObjectWriter()
        object.string("merchantTokenPublicKey", token.publicKey)
        object.literal("statusCode", "200")
        object.string("supportedCiphersuite", "HPKE_AUTH_P384_SHA384_AES_GCM_256")
        return .text(.ok, Array(object.text.utf8))
    }

    /// Returns Apple's ErrorResponse, in which `statusCode` is an integer.
    private static func error(_ code: Int, _ message: String) -> GatewayReply {
        var object = JSONObjectWriter()
        object.string("errorMessage", message)
        object.literal("statusCode", String(code))
        object.literal("subStatusCode", String(code * 100))
        return .text(.init(statusCode: code), Array(object.text.utf8))
    }
}
