package import MerchantCore
package import Vocabulary

/// The merchants that a client of the portal may know of. A request about another merchant, or about an object of
/// another merchant, gets the same response as if the merchant or the object did not exist.
package struct MerchantScope: Hashable, Sendable {
    /// nil for every merchant.
    package let merchants: Set<MerchantIdentifier>?

    package init(merchants: Set<MerchantIdentifier>?) { self.merchants = merchants }

    /// The merchants for which at least one of the grants gives the permit.
    package init(_ permit: Permit, in grants: [Grant]) {
        merchants = grants.allowsEveryMerchant(permit) ? nil : grants.merchants(permit)
    }

    package func contains(_ merchant: MerchantIdentifier) -> Bool { merchants?.contains(merchant) ?? true }

    /// The merchant, if the scope has exactly one.
    var only: MerchantIdentifier? {
        guard let merchants, merchants.count == 1 else { return nil }
        return merchants.first
    }
}
