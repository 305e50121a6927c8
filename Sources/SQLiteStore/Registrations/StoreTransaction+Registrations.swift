import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard try identifier(of: partner) == nil else {
            throw MerchantError(.internalError, "registration \(partner) exists, expected a new one")
        }
        try execute(
            RegistrationRow.insertion,
            [partner.rawValue] + RegistrationRow.values(registration)
                + [registration.createdAt.millisecondsSince1970])
        try writeDomains(of: registration, to: db.lastInsertedRowID, before: [])
    }

    func update(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard let id = try identifier(of: partner) else {
            throw MerchantError(.registrationNotFound, "there is no registration \(partner)")
        }
        let before = try domains(of: id)
        // The schema refuses domains that Apple has (`is_known`) in a registration without a `known_name`. So this loop
        // first clears those that Apple no longer has. Those that Apple has now are written last.
        let known = registration.known?.details?.domainNames ?? []
        for domain in before where domain.isKnown && !known.contains(domain.name) {
            if domain.isDesired {
                try execute(
                    "UPDATE registration_domains SET is_known = 0 WHERE registration_id = ? AND domain_name = ?",
                    [id, domain.name])
            } else {
                try removeDomain(domain.name, of: id)
            }
        }
        try execute(RegistrationRow.change, RegistrationRow.values(registration) + [id])
        try writeDomains(of: registration, to: id, before: before)
    }

    /// Writes the domains that changed, and removes those that are neither desired nor at Apple.
    ///
    /// - Parameter before: the domains in the database, before ``update(_:)`` cleared some of them.
    private func writeDomains(of registration: Registration, to id: Int64, before: [RegistrationRow.Domain]) throws {
        let desired = Set(registration.desired.domainNames.map(\.rawValue))
        let known = registration.known?.details?.domainNames ?? []
        for domain in before where !desired.contains(domain.name) && !known.contains(domain.name) {
            // ``update(_:)`` has already removed a domain that only Apple had.
            if domain.isDesired { try removeDomain(domain.name, of: id) }
        }
        for name in desired.union(known).sorted() {
            let (isDesired, isKnown) = (desired.contains(name), known.contains(name))
            guard !before.contains(where: { $0.name == name && $0.isDesired == isDesired && $0.isKnown == isKnown })
            else { continue }
            try execute(
                """
                INSERT INTO registration_domains (registration_id, domain_name, is_desired, is_known) VALUES (?, ?, ?, ?)
                ON CONFLICT (registration_id, domain_name)
                    DO UPDATE SET is_desired = excluded.is_desired, is_known = excluded.is_known
                """, [id, name, isDesired, isKnown])
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
        guard let id = try identifier(of: partner) else {
            throw MerchantError(.registrationNotFound, "there is no registration \(partner)")
        }
        if let other = try openCall(of: partner) {
            throw MerchantError(
                .registrationConflict, "call \(other.number) for \(partner) is open, expected its outcome first")
        }
        try execute(
            RegistrationCallRow.insertion,
            RegistrationCallRow.values(content, registration: id, requestId: requestId, at: time))
        return RegistrationCall(
            number: Int(db.lastInsertedRowID), partnerInternalMerchantIdentifier: partner, content: content,
            requestId: requestId, openedAt: time)
    }

    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws {
        let changed = try execute(
            "UPDATE registration_calls SET outcome = ?, finding = ?, closed_at = ? WHERE id = ? AND outcome IS NULL",
            [outcome.rawValue, finding, time.millisecondsSince1970, call.number])
        guard changed == 1 else {
            throw MerchantError(.internalError, "call \(call.number) is not open, expected one without an outcome")
        }
    }

    func store(_ file: DomainFile) throws {
        try execute(
            """
            INSERT INTO domain_verification_file (id, content, stored_at) VALUES (1, ?, ?)
            ON CONFLICT (id) DO UPDATE SET content = excluded.content, stored_at = excluded.stored_at
            """, [Data(file.bytes), file.storedAt.millisecondsSince1970])
    }
}
