import MerchantCore
package import Vocabulary

extension RegistrationOperations {
    /// Removes domains of a registration at Apple, or the whole registration.
    ///
    /// - Parameters:
    ///   - domainNames: the domains to remove; nil for all of them. Apple may have more domains than the daemon knows,
    ///     so in that case the daemon reads Apple's record first.
    ///   - reason: 1 to 1024 bytes, sent to Apple.
    /// - Throws: `registrationNotFound`; `domainNotRegistered` for a domain that is neither desired nor registered at
    ///   Apple; and the errors of a call to Apple that ``register(_:for:)`` throws.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName]?, reason: String, dryRun: Bool,
        for request: Request
    ) async throws -> RegistrationWithdrawal {
        _ = try DisplayText(reason, named: "reason", longest: RegistrationRules.longestReason)
        let requested = try domainNames.map(RegistrationRules.distinct)
        return try await calls.run(partner) {
            if !dryRun { try await calls.resolveIfOpen(partner, for: request) }
            let plan = try await self.plan(partner, requested, for: request)
            var view = plan.view
            if !dryRun {
                let content = RegistrationCall.Content.unregister(plan.removed, reason: reason)
                if plan.sending.isEmpty {
                    try await calls.adopt(content, of: partner, reason: reason, for: request)
                } else {
                    _ = try await calls.perform(content, sending: plan.sending, of: partner, for: request)
                }
                view = try await calls.records.remaining(partner, at: calls.clock.now)
            }
            return RegistrationWithdrawal(
                dryRun: dryRun, domainNames: plan.removed.sorted(), warnings: plan.warnings, view: view)
        }
    }

    private struct Plan {
        /// The domains to remove from the desired state.
        let removed: Set<DomainName>
        /// Those of the domains in ``removed`` that Apple has. The call to Apple names only these.
        let sending: Set<DomainName>
        let warnings: [String]
        let view: RegistrationView
    }

    private func plan(
        _ partner: PartnerInternalMerchantIdentifier, _ requested: Set<DomainName>?, for request: Request
    ) async throws -> Plan {
        var registration = try await calls.records.read { try $0.existingRegistration(partner) }
        let known = registration.known?.details?.domainNames ?? []
        if requested == nil || requested?.contains(where: { !known.contains($0.rawValue) }) == true {
            registration =
                try await calls.learn(try await calls.ask(partner), of: partner, for: request) ?? registration
        }
        let atApple = Set((registration.known?.details?.domainNames ?? []).compactMap { DomainName(ascii: $0) })
        let present = registration.desired.domainNames.union(atApple)
        if let unknown = requested?.subtracting(present).min() {
            throw MerchantError(
                .domainNotRegistered,
                "'\(unknown)' is not a domain of \(partner), which has \(present.count) other domains")
        }
        let removed = requested ?? present
        let now = calls.clock.now
        let (current, after) = (registration, present.subtracting(removed))
        let view = try await calls.records.read { try $0.view(current, .mirror, at: now) }
        return Plan(
            removed: removed, sending: removed.intersection(atApple),
            warnings: after.isEmpty
                ? [
                    "no domain is left: Apple removes the registration, and Apple Pay stops working on all of its domains"
                ]
                : [], view: view)
    }
}

extension Transactions where Reader == any MerchantReading & KeyPairReading & RegistrationReading {
    /// The registration after domains were removed. Unlike other views, this one exists even if no domain is left.
    fileprivate func remaining(
        _ partner: PartnerInternalMerchantIdentifier, at now: Timestamp
    ) async throws -> RegistrationView {
        try await read { reading in
            guard let registration = try reading.registration(partner) else {
                throw MerchantError(.internalError, "the registration \(partner) is missing")
            }
            return try reading.view(registration, .mirror, at: now)
        }
    }
}
