package import Vocabulary

/// The port for merchant records: what a transaction may read of them.
package protocol MerchantReading {
    /// Also a merchant that was removed.
    func merchant(_ identifier: MerchantIdentifier) throws -> Merchant?
    /// Merchants that were not removed, by identifier, starting after `cursor`.
    func merchants(after cursor: MerchantIdentifier?, limit: Int) throws -> [Merchant]
    /// The merchant records of the platform itself that were not removed, at most `limit`.
    func platformIntegrators(limit: Int) throws -> [MerchantIdentifier]
}

/// The port for merchant records: what a transaction may also change.
package protocol MerchantWriting: MerchantReading {
    func insert(_ merchant: Merchant) throws
    /// Writes name, target and time of removal.
    func update(_ merchant: Merchant) throws
}
