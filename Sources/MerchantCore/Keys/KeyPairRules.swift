package import Vocabulary

/// The rules that every store checks before it writes a key pair.
extension KeyPairReading where Self: MerchantReading {
    /// - Throws: `merchantNotFound`; `merchantRemoved`; `keyExists` or `keyBelongsToAnotherMerchant` if the key pair is
    ///   already stored; `keyStateConflict` if the merchant has ``KeyPair/mostPendingAndActive`` pending and active key
    ///   pairs; `internalError` if `new` is another key pair.
    package func requireNew(_ keyPair: KeyPair, _ new: NewKeyPair) throws {
        try keyPair.requireNew(
            new, merchant: merchant(keyPair.merchantIdentifier), stored: self.keyPair(keyPair.publicKeyHash),
            pendingAndActive: countPendingAndActiveKeyPairs(of: keyPair.merchantIdentifier))
    }
}

extension KeyPair {
    /// If a merchant has this many pending and active key pairs, a new one is refused. But a revoked key pair can
    /// then still be restored.
    package static let mostPendingAndActive = 64

    /// - Parameters:
    ///   - merchant: the stored merchant of the key pair; nil if there is none.
    ///   - stored: the stored key pair with the same `publicKeyHash`; nil if there is none.
    ///   - pendingAndActive: how many pending and active key pairs the merchant has.
    /// - Throws: as ``KeyPairReading/requireNew(_:_:)``.
    package func requireNew(
        _ new: NewKeyPair, merchant: Merchant?, stored: KeyPair?, pendingAndActive: Int
    ) throws {
        guard publicKeyHash == new.publicKeyHash else {
            throw MerchantError(
                .internalError,
                "the private key belongs to key pair \(new.publicKeyHash), so it cannot be stored for \(publicKeyHash)"
            )
        }
        guard let merchant else { throw MerchantError.merchantNotFound(merchantIdentifier) }
        if let removedAt = merchant.removedAt {
            throw MerchantError(.merchantRemoved, "merchant \(merchantIdentifier) was removed at \(removedAt)")
        }
        if let stored { throw alreadyStored(stored) }
        let isCounted = state == .pending || state.isActive
        guard !isCounted || pendingAndActive < Self.mostPendingAndActive else {
            throw MerchantError(
                .keyStateConflict,
                "the merchant has \(pendingAndActive) pending or active key pairs, the limit is \(Self.mostPendingAndActive): revoke some first"
            )
        }
    }

    private func alreadyStored(_ stored: KeyPair) -> MerchantError {
        guard stored.merchantIdentifier == merchantIdentifier else {
            return MerchantError(
                .keyBelongsToAnotherMerchant,
                "key pair \(publicKeyHash) already belongs to another merchant than \(merchantIdentifier): use a new key pair for each merchant"
            )
        }
        return MerchantError(
            .keyExists,
            "key pair \(publicKeyHash) was already stored at \(stored.createdAt), and its state is \(stored.state.rawValue): to add a certificate, upload only the certificate; to use a revoked key again, restore it"
        )
    }
}

extension KeyPairReading {
    /// - Throws: `keyNotFound`.
    package func requireKeyPair(_ hash: PublicKeyHash) throws {
        guard try keyPair(hash) != nil else { throw MerchantError.keyNotFound(hash) }
    }

    /// - Throws: `certificateKeyUnknown` if the key pair of a certificate does not exist.
    package func requireKeyPair(ofCertificate hash: PublicKeyHash) throws {
        guard try keyPair(hash) != nil else {
            throw MerchantError(
                .certificateKeyUnknown, "the certificate belongs to key pair \(hash), which does not exist")
        }
    }
}

extension MerchantError {
    /// For a key pair that would become `current`, although the merchant already has another current key pair with the
    /// same purpose and algorithm.
    package static func currentKeyExists(_ other: PublicKeyHash, whenStoring keyPair: KeyPair) -> MerchantError {
        MerchantError(
            .currentKeyExists,
            "\(keyPair.merchantIdentifier) already has a current \(keyPair.purpose.rawValue) key pair for \(keyPair.algorithm.rawValue), \(other): store key pair \(keyPair.publicKeyHash) as standby, then promote it"
        )
    }

    /// For a private key or account number whose data key was erased. This happens if a rotation erases the data key
    /// after the secret was sealed and before it is stored.
    package static let dataKeyErased = MerchantError(
        .overloaded, "the data key, which seals secrets, was replaced in the meantime: try again", retryAfter: 1)
}
