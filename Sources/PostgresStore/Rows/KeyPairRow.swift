import MerchantCore
import Vocabulary

/// Converts a key pair to and from its row in `key_pairs`.
enum KeyPairRow {
    static let columns =
        "public_key_hash, merchant_identifier, algorithm, purpose, origin, state, created_at, state_since, revocation_reason, destroy_after, exported_at"

    static func keyPair(_ row: Row) throws -> KeyPair {
        KeyPair(
            publicKeyHash: try row.publicKeyHash(), merchantIdentifier: try row.merchantIdentifier(),
            algorithm: try row.oneOf(KeyAlgorithm.self, "algorithm"),
            purpose: try row.oneOf(KeyPurpose.self, "purpose"),
            origin: try row.oneOf(KeyPair.Origin.self, "origin"), state: try row.oneOf(KeyState.self, "state"),
            createdAt: try row.timestamp("created_at"), stateSince: try row.timestamp("state_since"),
            revocationReason: try row.textIfAny("revocation_reason"),
            destroyAfter: try row.timestampIfAny("destroy_after"), exportedAt: try row.timestampIfAny("exported_at"))
    }

    static let insertion = """
        INSERT INTO key_pairs (id, \(columns), subject_public_key_info, certificate_signing_request)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """

    /// The values that ``insertion`` needs.
    ///
    /// - Parameters:
    ///   - new: the same key pair as it was generated or imported. It holds the public key and the CSR, which
    ///     ``KeyPair`` does not hold.
    ///   - id: the id of the new row. It must be the id of the row that holds the sealed private key.
    static func values(_ keyPair: KeyPair, _ new: NewKeyPair, id: Int64) -> Arguments {
        [
            id, keyPair.publicKeyHash.bytes, keyPair.merchantIdentifier.rawValue, keyPair.algorithm.rawValue,
            keyPair.purpose.rawValue, keyPair.origin.rawValue, keyPair.state.rawValue,
            keyPair.createdAt.millisecondsSince1970, keyPair.stateSince.millisecondsSince1970,
            keyPair.revocationReason, keyPair.destroyAfter?.millisecondsSince1970,
            keyPair.exportedAt?.millisecondsSince1970, new.subjectPublicKeyInfo,
            new.certificateSigningRequest,
        ]
    }
}
