package import MerchantCore
import MerchantOperations
import NIOCore
package import RESTKit
package import Vocabulary
import WireAPI

/// The handlers of the portal's REST routes. If a route needs a permit, its handler runs only if the caller has this
/// permit.
package struct PortalHandlers: RESTHandlers {
    package static let permitToRead = Permit.onboard
    package static let permitToChange = Permit.onboard
    package static let outOfScope = OutOfScopeResponse.notFound

    let operations: PortalOperations
    let health: @Sendable () -> HealthDocument
    /// The OpenAPI document. All responses share this copy.
    let openAPI: ByteBuffer
    /// The beginning of every link to the portal; nil while the portal does not listen yet.
    let publicURL: @Sendable () -> String?

    /// The merchants for which the caller has the permit `onboard`.
    func scope(_ call: RESTCall) -> MerchantScope { MerchantScope(.onboard, in: call.grants) }

    /// The response to a request that clients repeat often, with an entity tag.
    func conditionalResponse(_ document: some Encodable, _ call: RESTCall) throws -> RESTResponse {
        try RESTResponse(document).conditional(on: call.headers)
    }
}

/// Finds the owner of a resource among all merchants. The caller's scope is checked afterwards, and a caller without
/// the permit gets the response ``outOfScope``.
extension PortalHandlers {
    private static let anyMerchant = MerchantScope(merchants: nil)

    package func owner(ofKey hash: PublicKeyHash) async throws -> MerchantIdentifier {
        try await operations.onboarding.keyPair(hash, in: Self.anyMerchant).keyPair.merchantIdentifier
    }

    package func owner(ofRoll number: Int) async throws -> MerchantIdentifier {
        try await operations.onboarding.roll(number, in: Self.anyMerchant).roll.merchantIdentifier
    }

    package func owner(
        ofRegistration partner: PartnerInternalMerchantIdentifier
    ) async throws -> MerchantIdentifier? {
        try await operations.onboarding.owner(ofRegistration: partner)
    }
}
