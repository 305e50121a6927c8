import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let merchantTokens: [AdminRoute] = [
        .reads(
            "/v1/merchant-tokens", scope: .checkedByHandler, query: ["merchant", "state", "limit", "cursor"],
            AdminHandlers.listMerchantTokens),
        .reads("/v1/merchant-tokens/{merchantTokenIdentifier}", AdminHandlers.getMerchantToken),
        .changes(
            .post, "/v1/merchant-tokens/{merchantTokenIdentifier}/unlink", logMessage: "merchant token unlinked",
            effect: .destroys, query: ["dryRun"], maximumBodyBytes: 0, AdminHandlers.unlinkMerchantToken),
        .changes(
            .put, "/v1/merchant-tokens/{merchantTokenIdentifier}/notification-url",
            logMessage: "notification URL of a merchant token changed", AdminHandlers.setNotificationURL),
        .reads(
            "/v1/merchant-tokens/{merchantTokenIdentifier}/public-key", AdminHandlers.getPublicKeyOfMerchantToken),
        .changes(
            .post, "/v1/merchant-tokens/{merchantTokenIdentifier}/notify",
            logMessage: "Apple notified that usage information is ready", maximumBodyBytes: 0,
            AdminHandlers.notifyUsageInformation),
        .reads(
            "/v1/merchants/{merchantIdentifier}/token-notification-urls", AdminHandlers.listTokenNotificationURLs),
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/token-notification-urls",
            logMessage: "URL for notifications of merchant tokens created", maximumBodyBytes: 0,
            AdminHandlers.createTokenNotificationURL),
    ]
}

extension AdminHandlers {
    /// Lists merchant tokens. A caller whose permit is limited to some merchants gets only the tokens of these
    /// merchants.
    func listMerchantTokens(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: MerchantTokenIdentifier.self)
        let state = try call.query.value("state", as: MerchantToken.State.self)
        let found = try await operations.merchantTokens.list(
            of: try merchantsToRead(call), in: state, after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: { MerchantTokenDocument($0) }, cursor: { $0.identifier.rawValue }))
    }

    /// - Returns: nil for every merchant.
    private func merchantsToRead(_ call: RESTCall) throws(MerchantError) -> Set<MerchantIdentifier>? {
        if let merchant = try call.query.value("merchant", as: MerchantIdentifier.self) {
            try call.require(.read, for: merchant)
            return [merchant]
        }
        return call.grants.allowsEveryMerchant(.read) ? nil : call.grants.merchants(.read)
    }

    func getMerchantToken(_ call: RESTCall, _ identifier: MerchantTokenIdentifier) async throws -> RESTResponse {
        try response(try await operations.merchantTokens.token(identifier))
    }

    func unlinkMerchantToken(_ call: RESTCall, _ identifier: MerchantTokenIdentifier) async throws -> RESTResponse {
        guard try call.dryRun() else {
            return try response(try await operations.merchantTokens.unlink(identifier, for: call.request))
        }
        return try response(try await operations.merchantTokens.token(identifier), dryRun: true)
    }

    func setNotificationURL(_ call: RESTCall, _ identifier: MerchantTokenIdentifier) async throws -> RESTResponse {
        let body = try call.read(SetTokenNotificationURLRequest.self)
        return try response(
            try await operations.merchantTokens.setNotificationURL(
                body.notificationUrl, of: identifier, for: call.request))
    }

    func getPublicKeyOfMerchantToken(
        _ call: RESTCall, _ identifier: MerchantTokenIdentifier
    ) async throws -> RESTResponse {
        let key = try await operations.merchantTokens.publicKey(of: identifier)
        return try RESTResponse(MerchantTokenPublicKeyDocument(key, of: identifier))
    }

    func notifyUsageInformation(_ call: RESTCall, _ identifier: MerchantTokenIdentifier) async throws -> RESTResponse {
        try await operations.merchantTokens.notifyUsageInformation(of: identifier, for: call.request)
        return try response(try await operations.merchantTokens.token(identifier))
    }

    private func response(_ token: MerchantToken, dryRun: Bool = false) throws -> RESTResponse {
        try RESTResponse(MerchantTokenDocument(token))
            .withLogFields(merchant: token.merchantIdentifier, dryRun: dryRun)
    }

    // MARK: URLs for notifications

    func listTokenNotificationURLs(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let base = try operations.requiredTokenNotificationURL()
        let paths = try await operations.merchantTokens.notificationPaths(of: merchant)
        return try RESTResponse(
            Page(items: paths.map { TokenNotificationURLDocument($0, base: base) }, nextCursor: nil)
        ).withLogFields(merchant: merchant)
    }

    func createTokenNotificationURL(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let base = try operations.requiredTokenNotificationURL()
        let path = try await operations.merchantTokens.createNotificationPath(
            for: merchant, for: call.requestWithIdempotencyKey(Paths.tokenNotificationURLs(of: merchant)))
        return try RESTResponse(TokenNotificationURLDocument(path, base: base), status: .created)
            .withLogFields(merchant: merchant)
    }
}
