package import MerchantCore
import MerchantOperations
import NIOCore
package import RESTKit
package import Vocabulary
import WireAPI

/// The handlers of the issuer socket's routes. None of the routes concerns a merchant.
package final class IssuerHandlers: Sendable {
    let operations: ProvisioningOperations
    let health: @Sendable () -> HealthDocument
    /// The OpenAPI document. All responses share this copy.
    let openAPI: ByteBuffer

    init(
        operations: ProvisioningOperations, health: @escaping @Sendable () -> HealthDocument, openAPI: ByteBuffer
    ) {
        self.operations = operations
        self.health = health
        self.openAPI = openAPI
    }
}

extension IssuerHandlers: RESTHandlers {
    package static let permitToRead = Permit.provision
    package static let permitToChange = Permit.provision
    package static let outOfScope = OutOfScopeResponse.forbidden

    // No route has a key, a roll or a registration in its path.

    package func owner(ofKey hash: PublicKeyHash) throws -> MerchantIdentifier { throw MerchantError.keyNotFound(hash) }

    package func owner(ofRoll number: Int) throws -> MerchantIdentifier { throw MerchantError.rollNotFound(number) }

    package func owner(ofRegistration partner: PartnerInternalMerchantIdentifier) -> MerchantIdentifier? { nil }
}
