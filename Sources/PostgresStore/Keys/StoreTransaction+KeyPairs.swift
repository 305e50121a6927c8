import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws {
        try requireNew(keyPair, new)
        try refuseSecondCurrent(keyPair)
        try refuseErasedDataKey(new.sealedPrivateKey.dataKeyIdentifier)
        let id = try insertRow(
            "INSERT INTO sealed_private_keys (\(SealedKeyRow.columns)) VALUES ($1, $2, $3)",
            SealedKeyRow.values(new.sealedPrivateKey))
        try execute(
            """
            INSERT INTO key_pairs (\(KeyPairRow.insertedColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            """, KeyPairRow.values(keyPair, new, id: id))
        changes.noteKeyPair(keyPair.publicKeyHash, isNew: true)
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
        try execute(
            """
            INSERT INTO certificates (\(CertificateRow.insertedColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """, CertificateRow.values(certificate, of: hash))
        changes.noteKeyPair(hash)
        return true
    }

    func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws {
        try execute(
            "UPDATE certificates SET issuer_verified = true WHERE fingerprint = $1 AND public_key_hash = $2",
            [certificate.fingerprint, hash.bytes])
        changes.noteKeyPair(hash)
    }
}

extension StoreTransaction {
    /// Overwrites the sealed bytes with zeros of the same length. PostgreSQL keeps the old version of the row until
    /// VACUUM removes it: see ``PostgresStore/eraseRemovedBytes()``.
    private func eraseSealedPrivateKey(of hash: PublicKeyHash) throws {
        try execute(
            """
            UPDATE sealed_private_keys SET sealed_bytes = zeros(octet_length(sealed_bytes)), erased = true
            WHERE NOT erased AND id = (SELECT id FROM key_pairs WHERE public_key_hash = $1)
            """, [hash.bytes])
    }

    /// - Throws: ``MerchantError/dataKeyErased``.
    func refuseErasedDataKey(_ dataKey: Int) throws {
        let isErased = try firstRow(
            "SELECT sealed_bytes = zeros(octet_length(sealed_bytes)) AS is_erased FROM data_keys WHERE id = $1",
            [dataKey]
        ) { try $0.flag("is_erased") }
        guard isErased != true else { throw MerchantError.dataKeyErased }
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
