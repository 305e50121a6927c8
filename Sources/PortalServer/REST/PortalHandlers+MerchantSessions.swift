import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension PortalRoutes {
    static let merchantSessions: [PortalRoute] = [
        .changes(
            .post, "/v1/merchant-sessions", logMessage: "merchant session requested", permit: .merchantSession,
            scope: .checkedByHandler, PortalHandlers.requestMerchantSession)
    ]
}

extension PortalHandlers {
    /// Requests a merchant session from Apple. The response's body is Apple's, byte for byte.
    func requestMerchantSession(_ call: RESTCall) async throws -> RESTResponse {
        let order = try SessionOrder(try call.read(MerchantSessionRequest.self))
        let owner = try await authorize(order, call)
        let session = try await operations.merchantSessions.request(order, for: call.request)
        // Like every response without other cache fields, this one gets `Cache-Control: no-store`.
        return RESTResponse(bytes: ByteBuffer(bytes: session), mediaType: "application/json")
            .withLogFields(merchant: owner)
    }

    /// Checks the permit for the merchant of the session.
    ///
    /// - Returns: this merchant; nil if it was not needed for the check.
    private func authorize(_ order: SessionOrder, _ call: RESTCall) async throws -> MerchantIdentifier? {
        switch order.merchant {
        case .own(let merchant):
            try call.require(.merchantSession, for: merchant)
            return merchant
        case .registered(let partner):
            // A caller with the permit for every merchant is allowed for every owner, so the owner is not read.
            guard !call.grants.allowsEveryMerchant(.merchantSession) else { return nil }
            let owner = try await operations.merchantSessions.owner(of: order)
            try call.require(.merchantSession, forOwner: owner, notFound: .registrationNotFound(partner))
            return owner
        }
    }
}
