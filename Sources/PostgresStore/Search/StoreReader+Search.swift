import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func merchants(identifierPrefix text: String, limit: Int) throws -> [Merchant] {
        try allRows(
            """
            SELECT \(MerchantRow.columns) FROM merchants
            WHERE identifier >= $1 AND identifier < $2 AND removed_at IS NULL ORDER BY identifier LIMIT $3
            """, [text, text.endOfPrefixRange, max(0, limit)], MerchantRow.merchant)
    }

    func merchants(
        containing text: String, after cursor: MerchantIdentifier?, examining count: Int
    ) throws -> MerchantSearchPage {
        let after = cursor?.rawValue ?? ""
        let limit = max(1, count)
        // The inner query limits the rows that are read. With the collation "C", `lower` changes only ASCII letters.
        let found = try allRows(
            """
            SELECT \(MerchantRow.columns) FROM (
                SELECT \(MerchantRow.columns) FROM merchants WHERE identifier > $1 ORDER BY identifier LIMIT $2
            ) AS examined
            WHERE removed_at IS NULL
                AND (strpos(lower(identifier), lower($3 COLLATE "C")) > 0 OR strpos(lower(name), lower($3 COLLATE "C")) > 0)
            """, [after, limit, text], MerchantRow.merchant)
        let next = try firstRow(
            "SELECT identifier FROM merchants WHERE identifier > $1 ORDER BY identifier LIMIT 1 OFFSET $2",
            [after, limit - 1]
        ) { try $0.merchantIdentifier("identifier") }
        return MerchantSearchPage(found: found, next: next)
    }

    func domains(prefix text: String, limit: Int) throws -> [FoundDomain] {
        try allRows(
            """
            SELECT \(FoundDomainRow.columns)
            FROM registration_domains
                JOIN registrations ON registrations.id = registration_domains.registration_id
            WHERE domain_name >= $1 AND domain_name < $2 ORDER BY domain_name, registration_id LIMIT $3
            """, [text, text.endOfPrefixRange, max(0, limit)], FoundDomainRow.domain)
    }

    func domains(
        containing text: String, after cursor: PartnerInternalMerchantIdentifier?, examining count: Int
    ) throws -> DomainSearchPage {
        let after = cursor?.rawValue ?? ""
        let limit = max(1, count)
        // The inner query limits the registrations whose domains are read.
        let found = try allRows(
            """
            SELECT \(FoundDomainRow.columns) FROM (
                SELECT id, partner_internal_merchant_identifier, merchant_identifier
                FROM registrations
                WHERE (desired_domains > 0 OR known_domains > 0) AND partner_internal_merchant_identifier > $1
                ORDER BY partner_internal_merchant_identifier LIMIT $2
            ) AS examined JOIN registration_domains ON registration_domains.registration_id = examined.id
            WHERE strpos(lower(domain_name), lower($3 COLLATE "C")) > 0
            """, [after, limit, text], FoundDomainRow.domain)
        let next = try firstRow(
            """
            SELECT partner_internal_merchant_identifier FROM registrations
            WHERE (desired_domains > 0 OR known_domains > 0) AND partner_internal_merchant_identifier > $1
            ORDER BY partner_internal_merchant_identifier LIMIT 1 OFFSET $2
            """, [after, limit - 1]
        ) { try $0.partner() }
        return DomainSearchPage(found: found, next: next)
    }
}
