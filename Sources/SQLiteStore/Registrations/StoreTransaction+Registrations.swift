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
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, RegistrationRow.insertionValues(registration))
        try writeDomains(RegistrationDomainChanges(from: [], to: registration), to: id)
    }

    func update(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard let id = try rowId(of: partner) else { throw MerchantError.registrationNotFound(partner) }
        let changes = RegistrationDomainChanges(from: try domains(ofRow: id), to: registration)
        for name in changes.unmarked {
            try execute(
                "UPDATE registration_domains SET is_known = 0 WHERE registration_id = ? AND domain_name = ?",
                [id, name])
        }
        for name in changes.removedBefore { try removeDomain(name, of: id) }
        try execute(
            """
            UPDATE registrations SET partner_merchant_name = ?, encrypt_to = ?, merchant_url = ?,
                merchant_identifier = ?, changed_at = ?, learned_at = ?, known_name = ?,
                known_encrypt_to = ?, drifts = ?
            WHERE id = ?
            """, RegistrationRow.updateValues(registration, id: id))
        try writeDomains(changes, to: id)
    }

    /// Writes the changes of domains that must come after the write of the registration's own row.
    private func writeDomains(_ changes: RegistrationDomainChanges, to id: Int64) throws {
        for name in changes.removedAfter { try removeDomain(name, of: id) }
        for domain in changes.written {
            try execute(
                """
                INSERT INTO registration_domains (registration_id, \(RegistrationDomainRow.columns))
                VALUES (?, ?, ?, ?)
                ON CONFLICT (registration_id, domain_name)
                    DO UPDATE SET is_desired = excluded.is_desired, is_known = excluded.is_known
                """, [id, domain.name, domain.isDesired, domain.isKnown])
        }
    }

    private func removeDomain(_ name: String, of id: Int64) throws {
        try execute("DELETE FROM registration_domains WHERE registration_id = ? AND domain_name = ?", [id, name])
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
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, RegistrationCallRow.values(content, registrationRow: id, requestId: requestId, at: time))
        return RegistrationCall(
            number: Int(number), partnerInternalMerchantIdentifier: partner, content: content,
            requestId: requestId, openedAt: time)
    }

    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws {
        let changed = try execute(
            "UPDATE registration_calls SET outcome = ?, finding = ?, closed_at = ? WHERE id = ? AND outcome IS NULL",
            [outcome.rawValue, finding, time, call.number])
        guard changed == 1 else { throw MerchantError.callIsClosed(call) }
    }

    func store(_ file: DomainFile) throws {
        try execute(
            """
            INSERT INTO domain_verification_file (id, \(DomainFileRow.columns)) VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET content = excluded.content, stored_at = excluded.stored_at
            """, DomainFileRow.values(file))
    }
}
