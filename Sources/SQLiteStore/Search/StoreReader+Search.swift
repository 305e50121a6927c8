import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func merchants(identifierPrefix text: String, limit: Int) throws -> [Merchant] {
        try allRows(
            """
            SELECT \(MerchantRow.columns) FROM merchants
            WHERE identifier >= ? AND identifier < ? AND removed_at IS NULL ORDER BY identifier LIMIT ?
            """, [text, text.endOfPrefixRange, max(0, limit)], MerchantRow.merchant)
    }

    func merchants(
        containing text: String, after cursor: MerchantIdentifier?, examining count: Int
    ) throws -> MerchantSearchPage {
        let after = cursor?.rawValue ?? ""
        let limit = max(1, count)
        // The inner query limits the rows that are read. SQLite's `lower` changes only ASCII letters.
        let found = try allRows(
            """
            SELECT \(MerchantRow.columns) FROM (
                SELECT \(MerchantRow.columns) FROM merchants WHERE identifier > ? ORDER BY identifier LIMIT ?
            )
            WHERE removed_at IS NULL
                AND (instr(lower(identifier), lower(?)) > 0 OR instr(lower(name), lower(?)) > 0)
            """, [after, limit, text, text], MerchantRow.merchant)
        let next = try firstRow(
            "SELECT identifier FROM merchants WHERE identifier > ? ORDER BY identifier LIMIT 1 OFFSET ?",
            [after, limit - 1]
        ) { try $0.merchantIdentifier("identifier") }
        return MerchantSearchPage(found: found, next: next)
    }

    func domains(prefix text: String, limit: Int) throws -> [FoundDomain] {
        try allRows(
            """
            SELECT \(FoundDomainRow.columns)
            FROM registration_domains INDEXED BY registration_domains_by_name
                CROSS JOIN registrations ON registrations.id = registration_domains.registration_id
            WHERE domain_name >= ? AND domain_name < ? ORDER BY domain_name, registration_id LIMIT ?
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
                FROM registrations INDEXED BY registrations_shown
                WHERE (desired_domains > 0 OR known_domains > 0) AND partner_internal_merchant_identifier > ?
                ORDER BY partner_internal_merchant_identifier LIMIT ?
            ) AS examined CROSS JOIN registration_domains ON registration_domains.registration_id = examined.id
            WHERE instr(lower(domain_name), lower(?)) > 0
            """, [after, limit, text], FoundDomainRow.domain)
        let next = try firstRow(
            """
            SELECT partner_internal_merchant_identifier FROM registrations INDEXED BY registrations_shown
            WHERE (desired_domains > 0 OR known_domains > 0) AND partner_internal_merchant_identifier > ?
            ORDER BY partner_internal_merchant_identifier LIMIT 1 OFFSET ?
            """, [after, limit - 1]
        ) { try $0.partner() }
        return DomainSearchPage(found: found, next: next)
    }
}
