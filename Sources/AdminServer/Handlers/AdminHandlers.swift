package import MerchantCore
import MerchantOperations
import NIOCore
package import RESTKit
import ServerKit
package import Vocabulary
import WireAPI

/// The handlers of all routes. Each handler decodes the request, calls use cases, and encodes the result. A handler
/// runs only if the caller has the route's permit. If the route's scope is `checkedByHandler`, the handler itself
/// checks that the caller has the permit for the merchants in the request.
package final class AdminHandlers: Sendable {
    let operations: AdminOperations
    let health: @Sendable () -> HealthDocument
    let version: String
    let startedAt: Timestamp
    /// The OpenAPI document. All responses share this copy.
    let openAPI: ByteBuffer
    let metrics: MetricsReport

    init(
        operations: AdminOperations, health: @escaping @Sendable () -> HealthDocument, version: String,
        startedAt: Timestamp, openAPI: ByteBuffer, metrics: MetricsReport
    ) {
        self.operations = operations
        self.health = health
        self.version = version
        self.startedAt = startedAt
        self.openAPI = openAPI
        self.metrics = metrics
    }
}

extension AdminHandlers: RESTHandlers {
    package static let permitToRead = Permit.read
    package static let permitToChange = Permit.administer
    package static let outOfScope = OutOfScopeResponse.forbidden

    package func owner(ofKey hash: PublicKeyHash) async throws -> MerchantIdentifier {
        try await operations.keys.keyPair(hash).keyPair.merchantIdentifier
    }

    package func owner(ofRoll number: Int) async throws -> MerchantIdentifier {
        try await operations.rolls.roll(number).roll.merchantIdentifier
    }

    package func owner(ofMerchantToken token: MerchantTokenIdentifier) async throws -> MerchantIdentifier {
        try await operations.merchantTokens.token(token).merchantIdentifier
    }

    /// Always nil, so that a caller needs a permit for every merchant: a registration may belong to no merchant of this
    /// daemon.
    package func owner(ofRegistration partner: PartnerInternalMerchantIdentifier) -> MerchantIdentifier? { nil }
}
