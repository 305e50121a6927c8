import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard try rowId(of: partner) == nil else {
            throw MerchantError(
                .internalError, "registration \(partner) is already stored: it must be updated, not inserted")
        }
        let id = try insertRow(
            RegistrationRow.insertion,
            [partner.rawValue] + RegistrationRow.values(registration)
                + [registration.createdAt.millisecondsSince1970])
        try writeDomains(of: registration, to: id, before: [])
    }

    func update(_ registration: Registration) throws {
        let partner = registration.partnerInternalMerchantIdentifier
        guard let id = try rowId(of: partner) else {
            throw MerchantError.registrationNotFound(partner)
        }
        let before = try domains(ofRow: id)
        // `is_known` marks the domains that Apple has, and `known_name` is NULL if Apple has no registration. The
        // schema refuses a marked domain of a registration whose `known_name` is NULL. So the marks of domains that
        // Apple no longer has are cleared before the registration is updated, and new marks are set after that.
        let namesAtApple = registration.appleRecord?.details?.domainNames ?? []
        for domain in before where domain.isKnown && !namesAtApple.contains(domain.name) {
            if domain.isDesired {
                try execute(
                    "UPDATE registration_domains SET is_known = false WHERE registration_id = $1 AND domain_name = $2",
                    [id, domain.name])
            } else {
                try removeDomain(domain.name, of: id)
            }
        }
        try execute(RegistrationRow.update, RegistrationRow.values(registration) + [id])
        try writeDomains(of: registration, to: id, before: before)
    }

    /// Writes the domains that changed, and removes the domains that are neither desired nor at Apple.
    ///
    /// - Parameter before: the domains in the database before ``update(_:)`` changed any of them.
    private func writeDomains(of registration: Registration, to id: Int64, before: [RegistrationRow.Domain]) throws {
        let desired = Set(registration.desired.domainNames.map(\.rawValue))
        let namesAtApple = registration.appleRecord?.details?.domainNames ?? []
        for domain in before where !desired.contains(domain.name) && !namesAtApple.contains(domain.name) {
            // A domain that was not desired was only at Apple, and ``update(_:)`` has already removed that domain.
            if domain.isDesired { try removeDomain(domain.name, of: id) }
        }
        for name in desired.union(namesAtApple).sorted() {
            let (isDesired, isKnown) = (desired.contains(name), namesAtApple.contains(name))
            guard !before.contains(where: { $0.name == name && $0.isDesired == isDesired && $0.isKnown == isKnown })
            else { continue }
            try execute(
                """
                INSERT INTO registration_domains (registration_id, domain_name, is_desired, is_known) VALUES ($1, $2, $3, $4)
                ON CONFLICT (registration_id, domain_name)
                    DO UPDATE SET is_desired = excluded.is_desired, is_known = excluded.is_known
                """, [id, name, isDesired, isKnown])
        }
    }

    private func removeDomain(_ name: String, of id: Int64) throws {
        try execute("DELETE FROM registration_domains WHERE registration_id = $1 AND domain_name = $2", [id, name])
    }
}

// MARK: - Calls to Apple

extension StoreTransaction {
    func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, requestId: String,
        at time: Timestamp
    ) throws -> RegistrationCall {
        guard let id = try rowId(of: partner) else {
            throw MerchantError.registrationNotFound(partner)
        }
        if let other = try openCall(of: partner) {
            throw MerchantError(
                .registrationConflict,
                "the outcome of call \(other.number) to Apple for \(partner) is not known yet: try again later")
        }
        let number = try insertRow(
            RegistrationCallRow.insertion,
            RegistrationCallRow.values(content, registrationRow: id, requestId: requestId, at: time))
        return RegistrationCall(
            number: Int(number), partnerInternalMerchantIdentifier: partner, content: content,
            requestId: requestId, openedAt: time)
    }

    func close(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, finding: String?, at time: Timestamp
    ) throws {
        let changed = try execute(
            "UPDATE registration_calls SET outcome = $1, finding = $2, closed_at = $3 WHERE id = $4 AND outcome IS NULL",
            [outcome.rawValue, finding, time.millisecondsSince1970, call.number])
        guard changed == 1 else {
            throw MerchantError(
                .internalError, "call \(call.number) to Apple already has an outcome, which cannot be changed")
        }
    }

    func store(_ file: DomainFile) throws {
        try execute(
            """
            INSERT INTO domain_verification_file (id, content, stored_at) VALUES (1, $1, $2)
            ON CONFLICT (id) DO UPDATE SET content = excluded.content, stored_at = excluded.stored_at
            """, [file.bytes, file.storedAt.millisecondsSince1970])
    }
}
