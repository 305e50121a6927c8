package import Vocabulary

/// The rules that every store checks when it starts a roll.
extension RollReading {
    /// - Throws: `rollStateConflict` if the merchant has an open roll for the algorithm.
    package func requireNoOpenRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws {
        guard let open = try openRoll(of: merchant, algorithm: algorithm) else { return }
        throw MerchantError(
            .rollStateConflict,
            "\(merchant) already has an open roll for \(algorithm.rawValue), roll \(open.number): finish or abandon that roll first"
        )
    }
}

extension MerchantError {
    /// For a roll whose new key would be revoked, destroyed or unknown.
    package static func noRoll(to key: PublicKeyHash) -> MerchantError {
        MerchantError(
            .keyStateConflict,
            "key \(key) cannot be the new key of a roll: it is revoked, destroyed or unknown; choose another key")
    }
}
