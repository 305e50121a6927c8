import FoundationEssentials
import NIOHTTP1
import StrictJSON
import Vocabulary

/// The part of the control socket that creates and shows merchant tokens and their events.
///
/// `GET`, `POST /merchant-tokens` · `POST /merchant-tokens/events` · `GET /merchant-tokens/events/ID` ·
/// `POST /merchant-tokens/events/ID/notify` · `POST /merchant-tokens/usage-information`.
struct MerchantTokenControl: Sendable {
    let authority: SandboxAuthority
    let store: MerchantTokenStore
    let notifier: TokenNotifier
    /// Whether an event is wrapped if the request that creates it has no `wrapped` member.
    let wrapsEvents: Bool

    /// - Returns: nil for an unknown method or path.
    func reply(to method: HTTPMethod, _ path: String, _ body: [UInt8]) -> GatewayReply? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 2, parts[0].isEmpty, parts[1] == "merchant-tokens" else { return nil }
        do {
            switch (method, parts.count) {
            case (.GET, 2): return .json(.ok, ["items": store.tokens.map(\.document)])
            case (.POST, 2):
                try storeToken(body)
                return .empty
            case (.POST, 3) where parts[2] == "events": return try createEvent(body)
            case (.POST, 3) where parts[2] == "usage-information": return try decryptUsageInformation(body)
            case (.GET, 4) where parts[2] == "events":
                return store.event(parts[3]).map { .json(.ok, $0.document) } ?? .error(404, "no such event")
            case (.POST, 5) where parts[2] == "events" && parts[4] == "notify":
                guard let event = store.event(parts[3]) else { return .error(404, "no such event") }
                guard notify(of: event) else { return .error(409, "the token has no tokenNotificationURL") }
                return .empty
            default: return nil
            }
        } catch { return .error(400, "\(error)") }
    }

    private func storeToken(_ body: [UInt8]) throws {
        var fields = try JSONFields(parsing: body)
        let merchant = try fields.requiredString("merchantIdentifier")
        let token = try fields.requiredString("merchantTokenIdentifier")
        let url = try fields.string("tokenNotificationURL")
        let isReady = try fields.bool("publicKeyReady")
        try fields.refuseUnknown()
        try store.store(token, of: merchant) {
            if let url { $0.tokenNotificationURL = url }
            if let isReady { $0.isPublicKeyReady = isReady }
        }
    }

    /// Decrypts the response of the merchant's server as a device does.
    private func decryptUsageInformation(_ body: [UInt8]) throws -> GatewayReply {
        var fields = try JSONFields(parsing: body)
        let identifier = try fields.requiredString("merchantTokenIdentifier")
        let key = try fields.requiredString("merchantPublicKey")
        guard case .object(let response) = try fields.value("response") else {
            throw SandboxError("'response' is missing or not an object")
        }
        try fields.refuseUnknown()
        guard let token = store.token(identifier) else { return .error(404, "no such merchant token") }
        guard let publicKey = Base64.decode(key) else { throw SandboxError("'merchantPublicKey' is not Base64") }
        let content = try UsageInformationDevice(token: token).decrypt(response, merchantPublicKey: Data(publicKey))
        return .json(.ok, ["content": content.base64EncodedString()])
    }

    private func createEvent(_ body: [UInt8]) throws -> GatewayReply {
        let order = try TokenEventRequest(body, by: authority, at: .now)
        try store.store(order.merchantTokenIdentifier, of: order.merchantIdentifier) {
            if let url = order.tokenNotificationURL { $0.tokenNotificationURL = url }
            if order.unlinks { $0.isLinked = false }
        }
        let event = order.event(wraps: wrapsEvents)
        store.insert(event)
        if order.notifies { notify(of: event) }
        return .json(.created, ["eventId": event.eventIdentifier])
    }

    /// Starts to notify the merchant of an event.
    ///
    /// - Returns: whether the token has a `tokenNotificationURL`.
    @discardableResult
    private func notify(of event: SandboxTokenEvent) -> Bool {
        guard let url = store.token(event.merchantTokenIdentifier)?.tokenNotificationURL else { return false }
        Task { await notifier.notify(of: event.eventIdentifier, at: url) }
        return true
    }
}
