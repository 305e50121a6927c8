package import MerchantCore
import Vocabulary

/// Generates key pairs and stores them as `pending`.
package struct KeyPairGeneration: Sendable {
    private let custodian: any KeyCustodian

    package init(custodian: any KeyCustodian) { self.custodian = custodian }

    /// Whether generating a key pair takes long. A separate thread generates such a key pair, and callers check the
    /// merchant first. An EC key pair takes less time than switching threads, or than that check on PostgreSQL.
    static func isSlow(_ algorithm: KeyAlgorithm) -> Bool { algorithm == .rsaV1 }

    /// Generates a key pair, without storing it.
    func generate(
        _ algorithm: KeyAlgorithm, _ purpose: KeyPurpose, for identifier: MerchantIdentifier
    ) async throws -> NewKeyPair {
        guard Self.isSlow(algorithm) else {
            return try custodian.generateKeyPair(algorithm: algorithm, purpose: purpose, for: identifier)
        }
        return try await WorkThreads.generation.run {
            try custodian.generateKeyPair(algorithm: algorithm, purpose: purpose, for: identifier)
        }
    }

    /// Stores a generated key pair as `pending`, and appends its audit record.
    ///
    /// - Throws: `keyStateConflict` if the merchant has ``KeyPair/mostPendingAndActive`` pending and active key
    ///   pairs.
    static func insert(
        _ new: NewKeyPair, of identifier: MerchantIdentifier, at now: Timestamp, for request: Request,
        in transaction: any KeyPairWriting & ChangeRecording
    ) throws -> KeyPair {
        let keyPair = KeyPair(
            publicKeyHash: new.publicKeyHash, merchantIdentifier: identifier, algorithm: new.algorithm,
            purpose: new.purpose, origin: .generated, state: .pending, createdAt: now, stateSince: now)
        try transaction.insert(keyPair, new)
        try transaction.append(
            request.auditEntry(
                .keyGenerated, at: now, merchant: identifier, key: new.publicKeyHash, after: keyPair.state.rawValue,
                reason: "\(new.algorithm.rawValue) \(new.purpose.rawValue)"))
        return keyPair
    }
}
