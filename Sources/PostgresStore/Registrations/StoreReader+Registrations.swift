import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func registration(_ partner: PartnerInternalMerchantIdentifier) throws -> Registration? {
        try firstRow(
            "SELECT \(RegistrationRow.columns) FROM registrations WHERE partner_internal_merchant_identifier = $1",
            [partner.rawValue], registration)
    }

    func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int, all: Bool
    ) throws -> [Registration] {
        // Without `all`, lists only registrations that have a domain in the desired state or at Apple.
        let tableAndCondition =
            all
            ? "registrations WHERE"
            : "registrations WHERE (desired_domains > 0 OR known_domains > 0) AND"
        return try allRows(
            """
            SELECT \(RegistrationRow.columns) FROM \(tableAndCondition) partner_internal_merchant_identifier > $1
            ORDER BY partner_internal_merchant_identifier LIMIT $2
            """, [cursor?.rawValue ?? "", max(0, limit)], registration)
    }

    func registrations(
        of merchant: MerchantIdentifier, after cursor: PartnerInternalMerchantIdentifier?, limit: Int
    ) throws -> [Registration] {
        let last = try cursor.flatMap { try rowId(of: $0) } ?? 0
        return try allRows(
            """
            SELECT \(RegistrationRow.columns) FROM registrations
            WHERE merchant_identifier = $1 AND id > $2
                AND (desired_domains > 0 OR known_domains > 0 OR EXISTS (
                    SELECT 1 FROM registration_calls
                    WHERE registration_id = registrations.id AND outcome IS NULL))
            ORDER BY id LIMIT $3
            """, [merchant.rawValue, last, max(0, limit)], registration)
    }

    func registration(naming merchant: MerchantIdentifier) throws -> PartnerInternalMerchantIdentifier? {
        for column in ["merchant_identifier", "encrypt_to"] {
            let found = try firstRow(
                """
                SELECT partner_internal_merchant_identifier FROM registrations
                WHERE \(column) = $1 AND (desired_domains > 0 OR known_domains > 0) LIMIT 1
                """, [merchant.rawValue]
            ) { try $0.partner() }
            if let found { return found }
        }
        return try firstRow(
            """
            SELECT partner_internal_merchant_identifier
            FROM registration_calls
                JOIN registrations ON registrations.id = registration_calls.registration_id
            WHERE outcome IS NULL AND (registration_calls.merchant_identifier = $1 OR registration_calls.encrypt_to = $2)
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
            "SELECT \(RegistrationDomainRow.columns) FROM registration_domains WHERE registration_id = $1", [id],
            RegistrationDomainRow.init)
    }

    /// The id of the registration's row; nil if there is none.
    func rowId(of partner: PartnerInternalMerchantIdentifier) throws -> Int64? {
        try firstRow(
            "SELECT id FROM registrations WHERE partner_internal_merchant_identifier = $1", [partner.rawValue]
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
            FROM registrations JOIN registration_calls
                ON registration_calls.registration_id = registrations.id AND outcome IS NULL
            WHERE partner_internal_merchant_identifier = $1
            """, [partner.rawValue], RegistrationCallRow.call)
    }

    func repeatedCalls(
        of partner: PartnerInternalMerchantIdentifier, since time: Timestamp
    ) throws -> [RegistrationCall] {
        try allRows(
            """
            SELECT \(RegistrationCallRow.columns)
            FROM registrations JOIN registration_calls
                ON registration_calls.registration_id = registrations.id AND outcome = 'repeated' AND opened_at > $1
            WHERE partner_internal_merchant_identifier = $2
            """, [time, partner.rawValue], RegistrationCallRow.call)
    }

    func openCalls(after cursor: RegistrationCall?, limit: Int) throws -> [RegistrationCall] {
        let last = try cursor.flatMap { try rowId(of: $0.partnerInternalMerchantIdentifier) } ?? 0
        return try allRows(
            """
            SELECT \(RegistrationCallRow.columns)
            FROM registration_calls
                JOIN registrations ON registrations.id = registration_calls.registration_id
            WHERE outcome IS NULL AND registration_id > $1 ORDER BY registration_id LIMIT $2
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
