package import Vocabulary

/// Searches the store for the operators' pages, in a transaction of the store. Each query reads a limited number of
/// rows.
package protocol SearchReading {
    /// Merchants that were not removed and whose identifier begins with the text, sorted by identifier. The search is
    /// case-sensitive.
    func merchants(identifierPrefix text: String, limit: Int) throws -> [Merchant]
    /// Searches the identifiers and the names of the next `count` merchants in the order of their identifiers, starting
    /// after `cursor`. No index can find a part of a text, so a search of all merchants calls this method page by page.
    ///
    /// - Parameter text: not empty. The search does not distinguish upper and lower case of ASCII letters.
    func merchants(
        containing text: String, after cursor: MerchantIdentifier?, examining count: Int
    ) throws -> MerchantSearchPage
    /// Domains that begin with the text and are desired or registered at Apple, sorted by name.
    func domains(prefix text: String, limit: Int) throws -> [FoundDomain]
    /// Searches the domains of the next `count` registrations in the order of their partner identifiers, starting after
    /// `cursor`. Counts only registrations with a domain that is desired or registered at Apple.
    ///
    /// - Parameter text: not empty. The search does not distinguish upper and lower case of ASCII letters.
    func domains(
        containing text: String, after cursor: PartnerInternalMerchantIdentifier?, examining count: Int
    ) throws -> DomainSearchPage
}

/// The result of searching some merchants.
package struct MerchantSearchPage: Hashable, Sendable {
    /// The merchants whose identifier or name contains the text, without removed merchants, sorted by identifier.
    package let found: [Merchant]
    /// The last merchant that was searched: the next page starts after it, and can be empty. nil if no merchant is
    /// left.
    package let next: MerchantIdentifier?

    package init(found: [Merchant], next: MerchantIdentifier?) {
        self.found = found
        self.next = next
    }
}

/// The result of searching the domains of some registrations.
package struct DomainSearchPage: Hashable, Sendable {
    /// The domains that contain the text, sorted by the registration's partner identifier, then by name.
    package let found: [FoundDomain]
    /// The last registration that was searched: the next page starts after it, and can be empty. nil if no registration
    /// is left.
    package let next: PartnerInternalMerchantIdentifier?

    /// - Parameter found: the domains in any order.
    package init(found: [FoundDomain], next: PartnerInternalMerchantIdentifier?) {
        self.found = found.sorted { left, right in
            let partners = (left.partnerInternalMerchantIdentifier, right.partnerInternalMerchantIdentifier)
            return partners.0 == partners.1 ? left.name < right.name : partners.0 < partners.1
        }
        self.next = next
    }
}

/// A domain that a search has found, and the registration that the domain belongs to.
package struct FoundDomain: Hashable, Sendable {
    /// In the spelling of ``DomainName``. If Apple's spelling is not a valid domain name, in Apple's spelling.
    package let name: String
    package let partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier
    /// nil if the registration belongs to no merchant of this daemon.
    package let merchantIdentifier: MerchantIdentifier?

    package init(
        name: String, partnerInternalMerchantIdentifier: PartnerInternalMerchantIdentifier,
        merchantIdentifier: MerchantIdentifier?
    ) {
        self.name = name
        self.partnerInternalMerchantIdentifier = partnerInternalMerchantIdentifier
        self.merchantIdentifier = merchantIdentifier
    }
}
