import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ keyPair: KeyPair, _ new: NewKeyPair) throws {
        guard keyPair.publicKeyHash == new.publicKeyHash else {
            throw MerchantError(
                .internalError,
                "the private key belongs to key pair \(new.publicKeyHash), so it cannot be stored for \(keyPair.publicKeyHash)"
            )
        }
        try requireMerchantAndNewKeyPair(keyPair)
        try refuseSecondCurrent(keyPair)
        try refuseErasedDataKey(new.sealedPrivateKey.dataKeyIdentifier)
        try execute(
            "INSERT INTO sealed_private_keys (seal_version, data_key_id, sealed_bytes) VALUES (?, ?, ?)",
            [
                new.sealedPrivateKey.version, new.sealedPrivateKey.dataKeyIdentifier,
                Data(new.sealedPrivateKey.bytes),
            ])
        try execute(KeyPairRow.insertion, KeyPairRow.values(keyPair, new, id: db.lastInsertedRowID))
        noteKeyPairChange(of: keyPair.publicKeyHash)
    }

    func update(_ keyPair: KeyPair) throws {
        try refuseSecondCurrent(keyPair)
        if keyPair.state == .destroyed { try eraseSealedPrivateKey(of: keyPair.publicKeyHash) }
        let changed = try execute(
            """
            UPDATE key_pairs
            SET state = ?, state_since = ?, revocation_reason = ?, destroy_after = ?, exported_at = ?
            WHERE public_key_hash = ?
            """,
            [
                keyPair.state.rawValue, keyPair.stateSince.millisecondsSince1970, keyPair.revocationReason,
                keyPair.destroyAfter?.millisecondsSince1970, keyPair.exportedAt?.millisecondsSince1970,
                keyPair.publicKeyHash.data,
            ])
        guard changed == 1 else {
            throw MerchantError.keyNotFound(keyPair.publicKeyHash)
        }
        noteKeyPairChange(of: keyPair.publicKeyHash)
    }

    /// Overwrites the sealed private key with zeros. The trigger `key_pairs_destroyed` then sets the state to
    /// `destroyed`.
    func removeSealedPrivateKey(of hash: PublicKeyHash) throws {
        guard try keyPair(hash) != nil else { throw MerchantError.keyNotFound(hash) }
        try eraseSealedPrivateKey(of: hash)
        noteKeyPairChange(of: hash)
    }

    func insert(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws -> Bool {
        guard try keyPair(hash) != nil else {
            throw MerchantError(
                .certificateKeyUnknown, "the certificate belongs to key pair \(hash), which does not exist")
        }
        let isStored = try firstRow(
            "SELECT 1 FROM certificates WHERE fingerprint = ?", [Data(certificate.fingerprint)], { _ in true })
        guard isStored == nil else { return false }
        try execute(CertificateRow.insertion, CertificateRow.values(certificate, of: hash))
        noteKeyPairChange(of: hash)
        return true
    }

    func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws {
        try execute(
            "UPDATE certificates SET issuer_verified = 1 WHERE fingerprint = ? AND public_key_hash = ?",
            [Data(certificate.fingerprint), hash.data])
        noteKeyPairChange(of: hash)
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
            """, [hash.data])
    }

    /// Refuses a private key or account number whose data key was erased. This happens if a rotation erases the data key
    /// after the secret was sealed and before it is stored.
    func refuseErasedDataKey(_ dataKey: Int) throws {
        let isErased = try firstRow(
            "SELECT sealed_bytes = zeroblob(length(sealed_bytes)) AS is_erased FROM data_keys WHERE id = ?", [dataKey]
        ) { try $0.flag("is_erased") }
        guard isErased != true else {
            throw MerchantError(
                .overloaded, "the data key, which seals secrets, was replaced in the meantime: try again",
                retryAfter: 1)
        }
    }

    /// Throws if the merchant does not exist or was removed, or if the key pair is already stored.
    private func requireMerchantAndNewKeyPair(_ keyPair: KeyPair) throws {
        guard let merchant = try merchant(keyPair.merchantIdentifier) else {
            throw MerchantError.merchantNotFound(keyPair.merchantIdentifier)
        }
        if let removedAt = merchant.removedAt {
            throw MerchantError(
                .merchantRemoved, "merchant \(keyPair.merchantIdentifier) was removed at \(removedAt)")
        }
        guard let stored = try self.keyPair(keyPair.publicKeyHash) else { return }
        guard stored.merchantIdentifier == keyPair.merchantIdentifier else {
            throw MerchantError(
                .keyBelongsToAnotherMerchant,
                "key pair \(keyPair.publicKeyHash) already belongs to another merchant than \(keyPair.merchantIdentifier): use a new key pair for each merchant"
            )
        }
        throw MerchantError(
            .keyExists,
            "key pair \(keyPair.publicKeyHash) was already stored at \(stored.createdAt), and its state is \(stored.state.rawValue): to add a certificate, upload only the certificate; to use a revoked key again, restore it"
        )
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
                keyPair.publicKeyHash.data,
            ]
        ) { try $0.publicKeyHash() }
        guard let other else { return }
        throw MerchantError(
            .currentKeyExists,
            "\(keyPair.merchantIdentifier) already has a current \(keyPair.purpose.rawValue) key pair for \(keyPair.algorithm.rawValue), \(other): store key pair \(keyPair.publicKeyHash) as standby, then promote it"
        )
    }
}
