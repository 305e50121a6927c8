import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard try rowId(of: partner) == nil else { throw MerchantError.registrationIsStored(partner) }
        let id = try insertRow(
            """
            INSERT INTO registrations (\(RegistrationRow.insertedColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """, RegistrationRow.insertionValues(registration))
        try writeDomains(RegistrationDomainChanges(from: [], to: registration), to: id)
    }

    func update(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard let id = try rowId(of: partner) else { throw MerchantError.registrationNotFound(partner) }
        let changes = RegistrationDomainChanges(from: try domains(ofRow: id), to: registration)
        for name in changes.unmarked {
            try executeLater(
                "UPDATE registration_domains SET is_known = false WHERE registration_id = $1 AND domain_name = $2",
                [id, name])
        }
        for name in changes.removedBefore { try removeDomain(name, of: id) }
        try executeLater(
            """
            UPDATE registrations SET partner_merchant_name = $1, encrypt_to = $2, merchant_url = $3,
                merchant_identifier = $4, changed_at = $5, learned_at = $6, known_name = $7,
                known_encrypt_to = $8, drifts = $9
            WHERE id = $10
            """, RegistrationRow.updateValues(registration, id: id))
        try writeDomains(changes, to: id)
    }

    /// Writes the changes of domains that must come after the write of the registration's own row.
    private func writeDomains(_ changes: RegistrationDomainChanges, to id: Int64) throws {
        for name in changes.removedAfter { try removeDomain(name, of: id) }
        for domain in changes.written {
            try executeLater(
                """
                INSERT INTO registration_domains (registration_id, \(RegistrationDomainRow.columns))
                VALUES ($1, $2, $3, $4)
                ON CONFLICT (registration_id, domain_name)
                    DO UPDATE SET is_desired = excluded.is_desired, is_known = excluded.is_known
                """, [id, domain.name, domain.isDesired, domain.isKnown])
        }
    }

    private func removeDomain(_ name: String, of id: Int64) throws {
        try executeLater(
            "DELETE FROM registration_domains WHERE registration_id = $1 AND domain_name = $2", [id, name])
    }
}

// MARK: - Calls to Apple

extension StoreTransaction {
    func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, requestId: String,
        at time: Timestamp
    ) throws -> RegistrationCall {
        guard let id = try rowId(of: partner) else { throw MerchantError.registrationNotFound(partner) }
        try requireNoOpenCall(of: partner)
        let number = try insertRow(
            """
            INSERT INTO registration_calls (\(RegistrationCallRow.insertedColumns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """, RegistrationCallRow.values(content, registrationRow: id, requestId: requestId, at: time))
        return RegistrationCall(
            number: Int(number), partnerInternalMerchantIdentifier: partner, content: content,
            requestId: requestId, openedAt: time)
    }

    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws {
        let changed = try execute(
            "UPDATE registration_calls SET outcome = $1, finding = $2, closed_at = $3 WHERE id = $4 AND outcome IS NULL",
            [outcome.rawValue, finding, time, call.number])
        guard changed == 1 else { throw MerchantError.callIsClosed(call) }
    }

    func store(_ file: DomainFile) throws {
        try executeLater(
            """
            INSERT INTO domain_verification_file (id, \(DomainFileRow.columns)) VALUES (1, $1, $2)
            ON CONFLICT (id) DO UPDATE SET content = excluded.content, stored_at = excluded.stored_at
            """, DomainFileRow.values(file))
    }
}
