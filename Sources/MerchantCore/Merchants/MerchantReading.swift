package import Vocabulary

/// Reads merchant records in a transaction of the store.
package protocol MerchantReading {
    /// Also finds a removed merchant.
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant?
    /// Merchants that were not removed and match the filter, sorted by identifier, starting after `cursor`.
    func merchants(_ filter: MerchantFilter, after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant]
    /// The identifiers of the platform itself (`platformintegrator.…`) that were not removed.
    func platformIntegrators(limit: Int) throws -> [MerchantIdentifier]
}

extension MerchantReading {
    /// All merchants that were not removed, sorted by identifier, starting after `cursor`.
    package func merchants(after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant] {
        try merchants(MerchantFilter(), after: cursor, limit: limit)
    }
}

/// Selects merchants. Each condition that is not set matches every merchant.
package struct MerchantFilter: Hashable, Sendable {
    /// How the identifier begins.
    package var identifierPrefix: String?
    /// Whether the merchant must have fewer active payment processing key pairs than its target.
    package var isBelowTarget = false

    package init() {}
}

/// Reads and changes merchant records in a transaction of the store.
package protocol MerchantWriting: MerchantReading {
    func insert(_ merchant: Merchant) throws
    /// Writes the name, the target number of active key pairs, and the time of removal.
    func update(_ merchant: Merchant) throws
}
