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
        let id = try insertRow(
            "INSERT INTO sealed_private_keys (seal_version, data_key_id, sealed_bytes) VALUES ($1, $2, $3)",
            [
                new.sealedPrivateKey.version, new.sealedPrivateKey.dataKeyIdentifier,
                new.sealedPrivateKey.bytes,
            ])
        try execute(KeyPairRow.insertion, KeyPairRow.values(keyPair, new, id: id))
        noteKeyPairChange(of: keyPair.publicKeyHash)
    }

    func update(_ keyPair: KeyPair) throws {
        try refuseSecondCurrent(keyPair)
        if keyPair.state == .destroyed { try eraseSealedPrivateKey(of: keyPair.publicKeyHash) }
        let changed = try execute(
            """
            UPDATE key_pairs
            SET state = $1, state_since = $2, revocation_reason = $3, destroy_after = $4, exported_at = $5
            WHERE public_key_hash = $6
            """,
            [
                keyPair.state.rawValue, keyPair.stateSince.millisecondsSince1970, keyPair.revocationReason,
                keyPair.destroyAfter?.millisecondsSince1970, keyPair.exportedAt?.millisecondsSince1970,
                keyPair.publicKeyHash.bytes,
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
            "SELECT 1 FROM certificates WHERE fingerprint = $1", [certificate.fingerprint], { _ in true })
        guard isStored == nil else { return false }
        try execute(CertificateRow.insertion, CertificateRow.values(certificate, of: hash))
        noteKeyPairChange(of: hash)
        return true
    }

    func markIssuerVerified(_ certificate: StoredCertificate, of hash: PublicKeyHash) throws {
        try execute(
            "UPDATE certificates SET issuer_verified = true WHERE fingerprint = $1 AND public_key_hash = $2",
            [certificate.fingerprint, hash.bytes])
        noteKeyPairChange(of: hash)
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

    /// Refuses a private key or account number whose data key was erased. This happens if a rotation erases the data key
    /// after the secret was sealed and before it is stored.
    func refuseErasedDataKey(_ dataKey: Int) throws {
        let isErased = try firstRow(
            "SELECT sealed_bytes = zeros(octet_length(sealed_bytes)) AS is_erased FROM data_keys WHERE id = $1",
            [dataKey]
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
            SELECT public_key_hash FROM key_pairs
            WHERE merchant_identifier = $1 AND purpose = $2 AND algorithm = $3 AND state = 'current'
                AND public_key_hash <> $4
            """,
            [
                keyPair.merchantIdentifier.rawValue, keyPair.purpose.rawValue, keyPair.algorithm.rawValue,
                keyPair.publicKeyHash.bytes,
            ]
        ) { try $0.publicKeyHash() }
        guard let other else { return }
        throw MerchantError(
            .currentKeyExists,
            "\(keyPair.merchantIdentifier) already has a current \(keyPair.purpose.rawValue) key pair for \(keyPair.algorithm.rawValue), \(other): store key pair \(keyPair.publicKeyHash) as standby, then promote it"
        )
    }
}
