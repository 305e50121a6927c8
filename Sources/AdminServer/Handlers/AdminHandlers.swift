import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

/// The handlers of all routes. Each handler decodes the request, calls one use case, and encodes the result. The route
/// has checked the permit before.
final class AdminHandlers: Sendable {
    let operations: AdminOperations
    let health: @Sendable () -> HealthDocument
    let version: String
    let startedAt: Timestamp
    /// The OpenAPI document, one copy for all responses.
    let openAPI: ByteBuffer
    let requests: RequestMetrics

    init(
        operations: AdminOperations, health: @escaping @Sendable () -> HealthDocument, version: String,
        startedAt: Timestamp, openAPI: ByteBuffer, requests: RequestMetrics
    ) {
        self.operations = operations
        self.health = health
        self.version = version
        self.startedAt = startedAt
        self.openAPI = openAPI
        self.requests = requests
    }

    /// The merchant of a key pair. The caller needs the permit for this merchant.
    func owner(of hash: PublicKeyHash) async throws -> MerchantIdentifier {
        try await operations.keys.keyPair(hash).keyPair.merchantIdentifier
    }

    /// The merchant of a roll. The caller needs the permit for this merchant.
    func owner(ofRoll number: Int) async throws -> MerchantIdentifier {
        try await operations.rolls.roll(number).roll.merchantIdentifier
    }
}
