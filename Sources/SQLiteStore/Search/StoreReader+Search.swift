import GRDB
import MerchantCore
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
        nameContaining text: String, after cursor: MerchantIdentifier?, examining count: Int
    ) throws -> NameSearchPage {
        let after = cursor?.rawValue ?? ""
        let limit = max(1, count)
        // The inner query limits the rows that are read. SQLite's `lower` changes only ASCII letters.
        let found = try allRows(
            """
            SELECT \(MerchantRow.columns) FROM (
                SELECT \(MerchantRow.columns) FROM merchants WHERE identifier > ? ORDER BY identifier LIMIT ?
            )
            WHERE removed_at IS NULL AND instr(lower(name), lower(?)) > 0
            """, [after, limit, text], MerchantRow.merchant)
        let next = try firstRow(
            "SELECT identifier FROM merchants WHERE identifier > ? ORDER BY identifier LIMIT 1 OFFSET ?",
            [after, limit - 1]
        ) { try $0.merchantIdentifier("identifier") }
        return NameSearchPage(found: found, next: next)
    }

    func domains(prefix text: String, limit: Int) throws -> [FoundDomain] {
        try allRows(
            """
            SELECT domain_name, partner_internal_merchant_identifier, merchant_identifier
            FROM registration_domains INDEXED BY registration_domains_by_name
                CROSS JOIN registrations ON registrations.id = registration_domains.registration_id
            WHERE domain_name >= ? AND domain_name < ? ORDER BY domain_name, registration_id LIMIT ?
            """, [text, text.endOfPrefixRange, max(0, limit)]
        ) { row in
            FoundDomain(
                name: try row.text("domain_name"), partnerInternalMerchantIdentifier: try row.partner(),
                merchantIdentifier: try row.merchantIdentifierIfAny())
        }
    }
}

extension String {
    /// A text that SQLite sorts after the texts that begin with this one: U+10FFFF is the last code point of Unicode,
    /// and is not assigned to a character.
    var endOfPrefixRange: String { self + "\u{10FFFF}" }
}
