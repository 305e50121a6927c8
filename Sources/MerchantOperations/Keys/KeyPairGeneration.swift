package import MerchantCore
import Vocabulary

/// Generates key pairs and stores them as `pending`.
package struct KeyPairGeneration: Sendable {
    /// The most pending and active key pairs of one merchant.
    package static let mostLiveKeyPairs = 64

    private let custodian: any KeyCustodian

    package init(custodian: any KeyCustodian) { self.custodian = custodian }

    /// Generates a key pair. An RSA key pair takes long, so a separate thread generates it. An EC key pair takes less
    /// time than switching threads.
    func generate(
        _ algorithm: KeyAlgorithm, _ purpose: KeyPurpose, for identifier: MerchantIdentifier
    ) async throws -> NewKeyPair {
        guard algorithm == .rsaV1 else {
            return try custodian.generateKeyPair(algorithm: algorithm, purpose: purpose, for: identifier)
        }
        return try await WorkThreads.generation.run {
            try custodian.generateKeyPair(algorithm: algorithm, purpose: purpose, for: identifier)
        }
    }

    /// Stores a generated key pair as `pending`, with its audit record.
    static func insert(
        _ new: NewKeyPair, of identifier: MerchantIdentifier, at now: Timestamp, for request: Request,
        in transaction: any KeyPairWriting & ChangeRecording
    ) throws -> KeyPair {
        try requireRoom(of: identifier, in: transaction)
        let keyPair = KeyPair(
            publicKeyHash: new.publicKeyHash, merchantIdentifier: identifier, algorithm: new.algorithm,
            purpose: new.purpose, origin: .generated, state: .pending, createdAt: now, stateSince: now)
        try transaction.insert(keyPair, new)
        try transaction.append(
            request.entry(
                .keyGenerated, at: now, merchant: identifier, key: new.publicKeyHash, after: keyPair.state.rawValue,
                reason: "\(new.algorithm.rawValue) \(new.purpose.rawValue)"))
        return keyPair
    }

    /// - Throws: `keyStateConflict` if the merchant has ``mostLiveKeyPairs`` pending or active key pairs.
    static func requireRoom(of identifier: MerchantIdentifier, in transaction: any KeyPairReading) throws {
        let live = try transaction.keyPairs(of: identifier).filter { $0.state.isActive || $0.state == .pending }.count
        guard live < mostLiveKeyPairs else {
            throw MerchantError(
                .keyStateConflict,
                "the merchant has \(live) pending or active key pairs, the limit is \(mostLiveKeyPairs): revoke some first"
            )
        }
    }
}
