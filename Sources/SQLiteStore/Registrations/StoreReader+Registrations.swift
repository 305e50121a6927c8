import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func registration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration? {
        try firstRow(
            "SELECT \(RegistrationRow.columns) FROM registrations WHERE partner_internal_merchant_identifier = ?",
            [partner.rawValue], registration)
    }

    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration] {
        // Without `all`, lists only registrations that have a domain in the desired state or at Apple.
        let tableAndCondition =
            all
            ? "registrations WHERE"
            : "registrations INDEXED BY registrations_shown WHERE (desired_domains > 0 OR known_domains > 0) AND"
        return try allRows(
            """
            SELECT \(RegistrationRow.columns) FROM \(tableAndCondition) partner_internal_merchant_identifier > ?
            ORDER BY partner_internal_merchant_identifier LIMIT ?
            """, [cursor?.rawValue ?? "", max(0, limit)], registration)
    }

    func registrations(
        of merchant: MerchantIdentifier, after cursor: PartnerInternalMerchantIdentifier?, limit: Int
    ) throws -> [Registration] {
        let last = try cursor.flatMap { try rowId(of: $0) } ?? 0
        return try allRows(
            """
            SELECT \(RegistrationRow.columns) FROM registrations INDEXED BY registrations_of_merchant
            WHERE merchant_identifier = ? AND id > ?
                AND (desired_domains > 0 OR known_domains > 0 OR EXISTS (
                    SELECT 1 FROM registration_calls INDEXED BY registration_calls_one_open
                    WHERE registration_id = registrations.id AND outcome IS NULL))
            ORDER BY id LIMIT ?
            """, [merchant.rawValue, last, max(0, limit)], registration)
    }

    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier? {
        // One query for each index, because `INDEXED BY` names only one index of a table.
        for (index, column) in [
            ("registrations_of_merchant", "merchant_identifier"), ("registrations_encrypted_to", "encrypt_to"),
        ] {
            let found = try firstRow(
                """
                SELECT partner_internal_merchant_identifier FROM registrations INDEXED BY \(index)
                WHERE \(column) = ? AND (desired_domains > 0 OR known_domains > 0) LIMIT 1
                """, [merchant.rawValue]
            ) { try $0.partner() }
            if let found { return found }
        }
        return try firstRow(
            """
            SELECT partner_internal_merchant_identifier
            FROM registration_calls INDEXED BY registration_calls_one_open
                CROSS JOIN registrations ON registrations.id = registration_calls.registration_id
            WHERE outcome IS NULL AND (registration_calls.merchant_identifier = ? OR registration_calls.encrypt_to = ?)
            LIMIT 1
            """, [merchant.rawValue, merchant.rawValue]
        ) { try $0.partner() }
    }

    private func registration(_ row: some StoredRow) throws -> Registration {
        let id = try row.int64("id")
        return try RegistrationRow.registration(row, domains(ofRow: id))
    }

    /// The domains of the registration with this row id.
    func domains(ofRow id: Int64) throws -> [RegistrationDomainRow] {
        try allRows(
            "SELECT \(RegistrationDomainRow.columns) FROM registration_domains WHERE registration_id = ?", [id],
            RegistrationDomainRow.init)
    }

    /// The id of the registration's row; nil if there is none.
    func rowId(of partner: PartnerInternalMerchantIdentifier) throws -> Int64? {
        try firstRow(
            "SELECT id FROM registrations WHERE partner_internal_merchant_identifier = ?", [partner.rawValue]
        ) { try $0.int64("id") }
    }
}

// MARK: - Calls to Apple

// A call is open while its outcome is unknown: its column `outcome` is NULL.

extension StoreReading {
    func openCall(of partner: PartnerInternalMerchantIdentifier) throws -> RegistrationCall? {
        try firstRow(
            """
            SELECT \(RegistrationCallRow.columns)
            FROM registrations CROSS JOIN registration_calls INDEXED BY registration_calls_one_open
                ON registration_calls.registration_id = registrations.id AND outcome IS NULL
            WHERE partner_internal_merchant_identifier = ?
            """, [partner.rawValue], RegistrationCallRow.call)
    }

    func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since time: Timestamp
    ) throws -> [RegistrationCall] {
        try allRows(
            """
            SELECT \(RegistrationCallRow.columns)
            FROM registrations CROSS JOIN registration_calls INDEXED BY registration_calls_repeated
                ON registration_calls.registration_id = registrations.id AND outcome = 'repeated' AND opened_at > ?
            WHERE partner_internal_merchant_identifier = ?
            """, [time, partner.rawValue], RegistrationCallRow.call)
    }

    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall] {
        let last = try cursor.flatMap { try rowId(of: $0.partnerInternalMerchantIdentifier) } ?? 0
        return try allRows(
            """
            SELECT \(RegistrationCallRow.columns)
            FROM registration_calls INDEXED BY registration_calls_one_open
                CROSS JOIN registrations ON registrations.id = registration_calls.registration_id
            WHERE outcome IS NULL AND registration_id > ? ORDER BY registration_id LIMIT ?
            """, [last, max(0, limit)], RegistrationCallRow.call)
    }
}

// MARK: - Domain verification file

extension StoreReading {
    func domainFile() throws -> DomainFile? {
        try firstRow(
            "SELECT \(DomainFileRow.columns) FROM domain_verification_file WHERE id = 1", [], DomainFileRow.file)
    }
}
