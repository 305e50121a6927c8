package import MerchantCore
import Vocabulary

/// Generates key pairs and stores them as `pending`.
package struct KeyPairGeneration: Sendable {
    /// The largest number of pending and active key pairs that one merchant may have.
    package static let maximumPendingAndActiveKeyPairs = 64

    private let custodian: any KeyCustodian

    package init(custodian: any KeyCustodian) { self.custodian = custodian }

    /// Generates a key pair, without storing it. Generating an RSA key pair takes long, so a separate thread does that.
    /// Generating an EC key pair takes less time than switching threads.
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

    /// Stores a generated key pair as `pending`, and appends its audit record.
    ///
    /// - Throws: `keyStateConflict` if the merchant has ``maximumPendingAndActiveKeyPairs`` pending or active key
    ///   pairs.
    static func insert(
        _ new: NewKeyPair, of identifier: MerchantIdentifier, at now: Timestamp, for request: Request,
        in transaction: any KeyPairWriting & ChangeRecording
    ) throws -> KeyPair {
        try checkLimit(of: identifier, in: transaction)
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

    /// Checks that the merchant may have one more key pair.
    ///
    /// - Throws: `keyStateConflict` if the merchant has ``maximumPendingAndActiveKeyPairs`` pending or active key
    ///   pairs.
    static func checkLimit(of identifier: MerchantIdentifier, in transaction: any KeyPairReading) throws {
        let count = try transaction.keyPairs(of: identifier).count { $0.state.isActive || $0.state == .pending }
        guard count < maximumPendingAndActiveKeyPairs else {
            throw MerchantError(
                .keyStateConflict,
                "the merchant has \(count) pending or active key pairs, the limit is \(maximumPendingAndActiveKeyPairs): revoke some first"
            )
        }
    }
}
