package import Vocabulary

/// The rules that every store checks before it writes a merchant.
extension MerchantReading {
    /// - Throws: `merchantNotFound` if the merchant was never added. Accepts a merchant that was removed.
    package func requireMerchant(_ identifier: MerchantIdentifier) throws {
        guard try merchant(identifier) != nil else { throw MerchantError.merchantNotFound(identifier) }
    }

    /// - Throws: `merchantExists` if a merchant ever had this identifier.
    package func requireNew(_ merchant: Merchant) throws {
        guard let stored = try self.merchant(merchant.identifier) else { return }
        throw MerchantError(
            .merchantExists,
            "merchant \(merchant.identifier) was already added at \(stored.createdAt)\(stored.removedAt.map { " and removed at \($0); the identifier of a removed merchant cannot be used again" } ?? ": change it with 'merchant set', or use another identifier")"
        )
    }
}

extension Merchant {
    /// Checks a merchant that will be removed.
    ///
    /// - Parameter active: the number of the merchant's active key pairs.
    /// - Throws: `merchantInUse` if the merchant has active key pairs.
    package func requireUnused(activeKeyPairs active: Int) throws {
        guard active > 0 else { return }
        throw MerchantError(
            .merchantInUse,
            "merchant \(identifier) has \(active.counted("active key pair")): revoke and destroy its key pairs before you remove the merchant"
        )
    }
}
