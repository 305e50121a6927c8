import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

/// The handlers of all routes. Each decodes the request, calls one use case, and encodes the result; the route checked the permit.
struct AdminHandlers: Sendable {
    let operations: AdminOperations
    let health: @Sendable () -> HealthDocument
    let version: String
    let startedAt: Timestamp
    /// One copy for all responses.
    let openAPI: ByteBuffer
    let requests: RequestMetrics

    /// The merchant of a key pair, for permits that are for some merchants.
    func owner(of hash: PublicKeyHash) async throws -> MerchantIdentifier {
        try await operations.keys.keyPair(hash).keyPair.merchantIdentifier
    }

    /// The merchant of a roll.
    func owner(ofRoll number: Int) async throws -> MerchantIdentifier {
        try await operations.rolls.roll(number).roll.merchantIdentifier
    }
}
