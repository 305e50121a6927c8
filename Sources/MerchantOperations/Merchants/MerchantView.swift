package import MerchantCore
import Vocabulary

/// A merchant with the number of its active payment processing key pairs.
package struct MerchantView: Sendable {
    package let merchant: Merchant
    package let activeKeyPairs: Int
    /// Whether a verified backup contains the merchant's newest key pair; nil if the merchant has no key pair.
    package let isNewestKeyPairBackedUp: Bool?
}

extension KeyPairReading {
    /// The views of several merchants. Reads the key pairs of all of them at once.
    func views(_ merchants: [Merchant]) throws -> [MerchantView] {
        let summaries = try keyPairSummaries(of: merchants.map(\.identifier))
        return merchants.map { merchant in
            let summary = summaries[merchant.identifier]
            return MerchantView(
                merchant: merchant, activeKeyPairs: summary?.active ?? 0,
                isNewestKeyPairBackedUp: summary?.isNewestBackedUp)
        }
    }

    func view(_ merchant: Merchant) throws -> MerchantView {
        let summary = try keyPairSummaries(of: [merchant.identifier])[merchant.identifier]
        return MerchantView(
            merchant: merchant, activeKeyPairs: summary?.active ?? 0, isNewestKeyPairBackedUp: summary?.isNewestBackedUp
        )
    }
}

extension MerchantReading {
    /// - Throws: `merchantNotFound`, also for a merchant that was removed.
    func existingMerchant(_ identifier: MerchantIdentifier) throws -> Merchant {
        guard let merchant = try merchant(identifier), merchant.removedAt == nil else {
            throw MerchantError.merchantNotFound(identifier)
        }
        return merchant
    }
}
