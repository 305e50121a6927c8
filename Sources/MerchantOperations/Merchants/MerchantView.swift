package import MerchantCore
import Vocabulary

/// A merchant with the number of its active payment processing key pairs.
package struct MerchantView: Sendable {
    package let merchant: Merchant
    package let activeKeyPairs: Int
    /// Whether a verified backup contains the merchant's newest key pair; nil if the merchant has no key pair.
    package let isNewestKeyPairBackedUp: Bool?
}

extension KeyPairReading where Self: DaemonStateReading {
    func view(_ merchant: Merchant) throws -> MerchantView {
        MerchantView(
            merchant: merchant, activeKeyPairs: try countActivePaymentProcessingKeyPairs(of: merchant.identifier),
            isNewestKeyPairBackedUp: try isNewestKeyPairBackedUp(of: merchant.identifier))
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
