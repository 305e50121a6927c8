package import MerchantCore
import MerchantOperations
package import RESTKit
package import Vocabulary

/// An access can have permits for every merchant, so the routes of an access need a permit for every merchant.
extension AccessName: PathParameter {
    package static let name = "accessName"

    package func owner(_ owners: some ResourceOwners) -> MerchantIdentifier? { nil }

    package var notFoundError: MerchantError { MerchantError(.accessNotFound, "there is no access \(self)") }
}

extension InvitationIdentifier: PathParameter {
    package static let name = "invitationId"

    package func owner(_ owners: some ResourceOwners) async throws -> MerchantIdentifier? {
        // Only the admin socket has REST routes with this parameter.
        guard let handlers = owners as? AdminHandlers else { return nil }
        return try await handlers.operations.invitations.invitation(self).merchantIdentifier
    }

    package var notFoundError: MerchantError { MerchantError(.invitationNotFound, "there is no invitation \(self)") }
}
