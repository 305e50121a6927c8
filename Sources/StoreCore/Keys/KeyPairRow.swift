package import MerchantCore
import Vocabulary

/// Converts a key pair to and from its row in `key_pairs`.
package enum KeyPairRow {
    package static let columns = """
        public_key_hash, merchant_identifier, algorithm, purpose, origin, state, created_at, state_since,
        revocation_reason, destroy_after, exported_at
        """

    package static func keyPair(_ row: some StoredRow) throws -> KeyPair {
        KeyPair(
            publicKeyHash: try row.publicKeyHash(), merchantIdentifier: try row.merchantIdentifier(),
            algorithm: try row.oneOf(KeyAlgorithm.self, "algorithm"),
            purpose: try row.oneOf(KeyPurpose.self, "purpose"),
            origin: try row.oneOf(KeyPair.Origin.self, "origin"), state: try row.oneOf(KeyState.self, "state"),
            createdAt: try row.timestamp("created_at"), stateSince: try row.timestamp("state_since"),
            revocationReason: try row.textIfAny("revocation_reason"),
            destroyAfter: try row.timestampIfAny("destroy_after"), exportedAt: try row.timestampIfAny("exported_at"))
    }

    /// Converts a row that also has the column `expires_at`.
    package static func expiringKeyPair(_ row: some StoredRow) throws -> ExpiringKeyPair {
        ExpiringKeyPair(keyPair: try keyPair(row), notAfter: try row.timestamp("expires_at"))
    }

    /// The columns of a new row, without its `id`, which must be the id of the row that holds the sealed private key.
    package static let insertedColumns = "\(columns), subject_public_key_info, certificate_signing_request"

    /// The values of ``insertedColumns``.
    ///
    /// - Parameter new: the same key pair as it was generated or imported. It holds the public key and the CSR, which
    ///   ``KeyPair`` does not hold.
    package static func values(_ keyPair: KeyPair, _ new: NewKeyPair) -> Arguments {
        [
            keyPair.publicKeyHash.bytes, keyPair.merchantIdentifier.rawValue, keyPair.algorithm.rawValue,
            keyPair.purpose.rawValue, keyPair.origin.rawValue, keyPair.state.rawValue, keyPair.createdAt,
            keyPair.stateSince, keyPair.revocationReason, keyPair.destroyAfter, keyPair.exportedAt,
            new.subjectPublicKeyInfo, new.certificateSigningRequest,
        ]
    }

    /// The values of the columns that can change (`state`, `state_since`, `revocation_reason`, `destroy_after`,
    /// `exported_at`), and the public key hash.
    package static func updateValues(_ keyPair: KeyPair) -> Arguments {
        [
            keyPair.state.rawValue, keyPair.stateSince, keyPair.revocationReason, keyPair.destroyAfter,
            keyPair.exportedAt, keyPair.publicKeyHash.bytes,
        ]
    }
}
