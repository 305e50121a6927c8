import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws {
        try requireNew(keyPair, new)
        try refuseSecondCurrent(keyPair)
        try refuseErasedDataKey(new.sealedPrivateKey.dataKeyIdentifier)
        let id = try insertRow(
            "INSERT INTO sealed_private_keys (\(SealedKeyRow.columns)) VALUES (?, ?, ?)",
            SealedKeyRow.values(new.sealedPrivateKey))
        try execute(
            """
            INSERT INTO key_pairs (id, \(KeyPairRow.insertedColumns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, [id] + KeyPairRow.values(keyPair, new))
        changes.noteNew(keyPair)
    }

    func update(_ keyPair: KeyPair) throws {
        try refuseSecondCurrent(keyPair)
        if keyPair.state == .destroyed { try eraseSealedPrivateKey(of: keyPair.publicKeyHash) }
        let changed = try execute(
            """
            UPDATE key_pairs
            SET state = ?, state_since = ?, revocation_reason = ?, destroy_after = ?, exported_at = ?
            WHERE public_key_hash = ?
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
            "SELECT 1 FROM certificates WHERE fingerprint = ?", [certificate.fingerprint], { _ in true })
        guard isStored == nil else { return false }
        try execute(
            """
            INSERT INTO certificates (\(CertificateRow.insertedColumns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, CertificateRow.values(certificate, of: hash))
        changes.noteKeyPair(hash)
        return true
    }

    func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws {
        try execute(
            "UPDATE certificates SET issuer_verified = 1 WHERE fingerprint = ? AND public_key_hash = ?",
            [certificate.fingerprint, hash.bytes])
        changes.noteKeyPair(hash)
    }
}

extension StoreTransaction {
    /// Overwrites the sealed bytes with zeros of the same length. The row keeps its size, so SQLite does not move the
    /// row, and no copy of the old bytes stays in the file.
    private func eraseSealedPrivateKey(of hash: PublicKeyHash) throws {
        try execute(
            """
            UPDATE sealed_private_keys SET sealed_bytes = zeroblob(length(sealed_bytes)), erased = 1
            WHERE erased = 0 AND id = (SELECT id FROM key_pairs WHERE public_key_hash = ?)
            """, [hash.bytes])
    }

    /// - Throws: ``MerchantError/dataKeyErased``.
    func refuseErasedDataKey(_ dataKey: Int) throws {
        let isErased = try firstRow(
            "SELECT sealed_bytes = zeroblob(length(sealed_bytes)) AS is_erased FROM data_keys WHERE id = ?", [dataKey]
        ) { try $0.flag("is_erased") }
        guard isErased != true else { throw MerchantError.dataKeyErased }
    }

    /// Throws if the key pair is current, and its merchant already has another current key pair with the same purpose
    /// and algorithm.
    private func refuseSecondCurrent(_ keyPair: KeyPair) throws {
        guard keyPair.state == .current else { return }
        let other = try firstRow(
            """
            SELECT public_key_hash FROM key_pairs INDEXED BY key_pairs_one_current
            WHERE merchant_identifier = ? AND purpose = ? AND algorithm = ? AND state = 'current'
                AND public_key_hash <> ?
            """,
            [
                keyPair.merchantIdentifier.rawValue, keyPair.purpose.rawValue, keyPair.algorithm.rawValue,
                keyPair.publicKeyHash.bytes,
            ]
        ) { try $0.publicKeyHash() }
        if let other { throw MerchantError.currentKeyExists(other, whenStoring: keyPair) }
    }
}
