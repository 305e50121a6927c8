import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

/// What the routes call. Each method decodes, makes one use case happen, and encodes; the permit was checked before.
struct AdminHandlers: Sendable {
    let operations: AdminOperations
    let health: @Sendable () -> HealthDocument
    let version: String
    let startedAt: Timestamp
    /// In memory once for all responses.
    let openAPI: ByteBuffer
    let counter: RequestCounter

    /// Whose key pair it is, for permits that are for some merchants.
    func owner(of hash: PublicKeyHash) async throws -> MerchantIdentifier {
        try await operations.keys.keyPair(hash).keyPair.merchantIdentifier
    }

    /// Whose roll it is.
    func owner(ofRoll number: Int) async throws -> MerchantIdentifier {
        try await operations.rolls.roll(number).roll.merchantIdentifier
    }
}
