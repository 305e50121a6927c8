package import MerchantCore
import Vocabulary

/// Converts a row of `registrations` and `registration_domains` to a domain that a search has found.
package enum FoundDomainRow {
    package static let columns = "domain_name, partner_internal_merchant_identifier, merchant_identifier"

    package static func domain(_ row: some StoredRow) throws -> FoundDomain {
        FoundDomain(
            name: try row.text("domain_name"), partnerInternalMerchantIdentifier: try row.partner(),
            merchantIdentifier: try row.merchantIdentifierIfAny())
    }
}
