import MerchantCore
import MerchantOperations
import RESTKit
import Vocabulary
import WireAPI

extension PortalRoutes {
    static let merchants: [PortalRoute] = [
        .reads("/v1/merchants/{merchantIdentifier}", PortalHandlers.getMerchant),
        .reads("/v1/merchants/{merchantIdentifier}/onboarding", PortalHandlers.getOnboarding),
    ]
}

extension PortalHandlers {
    func getMerchant(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let view = try await operations.onboarding.merchant(merchant, in: scope(call))
        return try conditionalResponse(MerchantDocument(view), call).withLogFields(merchant: merchant)
    }

    func getOnboarding(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let progress = try await operations.onboarding.progress(of: merchant, in: scope(call))
        return try conditionalResponse(progress.document, call).withLogFields(merchant: merchant)
    }
}
