import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws {
        let dataKey = new.sealedPrivateKey.dataKeyIdentifier
        let found = try connection.queries([
            Self.query(keyPair.merchantIdentifier), Self.query(keyPair.publicKeyHash),
            Self.countQuery(keyPair.merchantIdentifier), Self.erasedDataKeyQuery(dataKey),
        ])
        try keyPair.requireNew(
            new, merchant: found[0].first.map(MerchantRow.merchant), stored: found[1].first.map(KeyPairRow.keyPair),
            pendingAndActive: found[2].first?.integer("key_pairs") ?? 0)
        try Self.refuseErasedDataKey(found[3])
        try refuseSecondCurrent(keyPair)
        try executeLater(
            """
            WITH sealed AS (
                INSERT INTO sealed_private_keys (\(SealedKeyRow.columns)) VALUES ($14, $15, $16) RETURNING id
            )
            INSERT INTO key_pairs (id, \(KeyPairRow.insertedColumns))
            VALUES ((SELECT id FROM sealed), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            """, KeyPairRow.values(keyPair, new) + SealedKeyRow.values(new.sealedPrivateKey))
        changes.noteNew(keyPair)
    }

    func update(_ keyPair: KeyPair) throws {
        try refuseSecondCurrent(keyPair)
        if keyPair.state == .destroyed { try eraseSealedPrivateKey(of: keyPair.publicKeyHash) }
        let changed = try execute(
            """
            UPDATE key_pairs
            SET state = $1, state_since = $2, revocation_reason = $3, destroy_after = $4, exported_at = $5
            WHERE public_key_hash = $6
            """, KeyPairRow.updateValues(keyPair))
        guard changed == 1 else { throw MerchantError.keyNotFound(keyPair.publicKeyHash) }
        changes.noteKeyPair(keyPair.publicKeyHash)
    }

    /// Overwrites the sealed private key with zeros. The trigger `key_pairs_destroyed` then sets the state to
    /// `destroyed`.
    func removeSealedPrivateKey(of hash: PublicKeyHash) throws {
        try requireKeyPair(hash)
        try eraseSealedPrivateKey(of: hash)
        changes.noteKeyPair(hash)
    }

    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool {
        try requireKeyPair(ofCertificate: hash)
        let isStored = try firstRow(
            "SELECT 1 FROM certificates WHERE fingerprint = $1", [certificate.fingerprint], { _ in true })
        guard isStored == nil else { return false }
        try executeLater(
            """
            INSERT INTO certificates (\(CertificateRow.insertedColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """, CertificateRow.values(certificate, of: hash))
        changes.noteKeyPair(hash)
        return true
    }

    func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws {
        try executeLater(
            "UPDATE certificates SET issuer_verified = true WHERE fingerprint = $1 AND public_key_hash = $2",
            [certificate.fingerprint, hash.bytes])
        changes.noteKeyPair(hash)
    }
}

extension StoreTransaction {
    /// Overwrites the sealed bytes with zeros of the same length. PostgreSQL keeps the old version of the row until
    /// VACUUM removes it: see ``PostgresStore/eraseCopiesOfDestroyedSecrets()``.
    private func eraseSealedPrivateKey(of hash: PublicKeyHash) throws {
        try executeLater(
            """
            UPDATE sealed_private_keys SET sealed_bytes = zeros(octet_length(sealed_bytes)), erased = true
            WHERE NOT erased AND id = (SELECT id FROM key_pairs WHERE public_key_hash = $1)
            """, [hash.bytes])
    }

    /// - Throws: ``MerchantError/dataKeyErased``.
    func refuseErasedDataKey(_ dataKey: Int) throws {
        try Self.refuseErasedDataKey(try connection.query(Self.erasedDataKeyQuery(dataKey)))
    }

    private static func erasedDataKeyQuery(_ dataKey: Int) -> Query {
        Query(
            "SELECT sealed_bytes = zeros(octet_length(sealed_bytes)) AS is_erased FROM data_keys WHERE id = $1",
            [dataKey])
    }

    /// - Parameter found: the result of ``erasedDataKeyQuery(_:)``.
    private static func refuseErasedDataKey(_ found: QueryResult) throws {
        guard try found.first?.flag("is_erased") != true else { throw MerchantError.dataKeyErased }
    }

    /// Throws if the key pair is current, and its merchant already has another current key pair with the same purpose
    /// and algorithm.
    private func refuseSecondCurrent(_ keyPair: KeyPair) throws {
        guard keyPair.state == .current else { return }
        let other = try firstRow(
            """
            SELECT public_key_hash FROM key_pairs
            WHERE merchant_identifier = $1 AND purpose = $2 AND algorithm = $3 AND state = 'current'
                AND public_key_hash <> $4
            """,
            [
                keyPair.merchantIdentifier.rawValue, keyPair.purpose.rawValue, keyPair.algorithm.rawValue,
                keyPair.publicKeyHash.bytes,
            ]
        ) { try $0.publicKeyHash() }
        if let other { throw MerchantError.currentKeyExists(other, whenStoring: keyPair) }
    }
}
