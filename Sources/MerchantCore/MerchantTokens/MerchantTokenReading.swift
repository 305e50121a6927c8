package import Vocabulary

/// Reads the last known states of merchant tokens in a transaction of the store.
package protocol MerchantTokenReading {
    func merchantToken(_ identifier: MerchantTokenIdentifier) throws -> MerchantToken?
    /// Merchant tokens sorted by identifier, starting after `cursor`.
    ///
    /// - Parameters:
    ///   - merchants: the merchants whose tokens match; nil for all.
    ///   - state: nil for every state.
    func merchantTokens(
        of merchants: Set<MerchantIdentifier>?, in state: MerchantToken.State?, after cursor: MerchantTokenIdentifier?,
        limit: Int
    ) throws -> [MerchantToken]
    /// The sealed account number of a merchant token; nil if none is stored.
    func mpan(of token: MerchantTokenIdentifier) throws -> StoredMPAN?
    /// The sealed account numbers, sorted by merchant token identifier, starting after `cursor`.
    func mpans(after cursor: MerchantTokenIdentifier?, limit: Int) throws -> [StoredMPAN]
}

/// Reads and changes the last known states of merchant tokens in a transaction of the store.
package protocol MerchantTokenWriting: MerchantTokenReading {
    /// Stores a merchant token. Replaces the one with the same identifier, but never its `firstSeenAt` and merchant,
    /// and never moves its `lastSeenAt` back. Erases the account number of a token that becomes unlinked.
    ///
    /// - Throws: `merchantNotFound`.
    func store(_ token: MerchantToken) throws
    /// Stores that payments with these merchant tokens were decrypted: adds tokens that are not known, and moves
    /// `lastSeenAt` of the others forward. Does not change a token's state or merchant.
    ///
    /// - Throws: `merchantNotFound`.
    func recordPayments(_ payments: [MerchantTokenPayment]) throws
    /// Stores the sealed account number of a merchant token. Replaces the stored one.
    ///
    /// - Throws: `merchantTokenNotFound`; `merchantTokenStateConflict` if the token is unlinked; `overloaded` if a
    ///   rotation erased the data key after the account number was sealed.
    func store(_ mpan: StoredMPAN) throws
    /// Overwrites the sealed account number of a merchant token. Does nothing if none is stored.
    func eraseMPAN(of token: MerchantTokenIdentifier) throws
}

/// The payments of one merchant token that the daemon has decrypted.
package struct MerchantTokenPayment: Hashable, Sendable {
    package let identifier: MerchantTokenIdentifier
    package let merchantIdentifier: MerchantIdentifier
    /// How many payments there were, and the times of the first and last one.
    package let times: Occurrences

    package init(identifier: MerchantTokenIdentifier, merchantIdentifier: MerchantIdentifier, times: Occurrences) {
        self.identifier = identifier
        self.merchantIdentifier = merchantIdentifier
        self.times = times
    }
}
