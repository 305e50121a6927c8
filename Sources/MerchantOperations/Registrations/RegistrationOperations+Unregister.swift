import MerchantCore
package import Vocabulary

extension RegistrationOperations {
    /// Removes domains of a registration at Apple, or the whole registration.
    ///
    /// - Parameters:
    ///   - domainNames: the domains to remove; nil for all domains. Apple may have more domains than the daemon knows.
    ///     So the daemon reads Apple's record first, if `domainNames` is nil or contains a domain that the stored copy
    ///     of Apple's record lacks.
    ///   - reason: 1 to 1024 bytes, sent to Apple.
    /// - Throws: `registrationNotFound`; `domainNotRegistered` for a domain that is neither desired nor registered at
    ///   Apple; and the errors of a call to Apple that ``register(_:ownedBy:for:)`` throws.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName]?, reason: String, dryRun: Bool,
        for request: Request
    ) async throws -> UnregistrationResult {
        _ = try DisplayText(reason, named: "reason", longest: RegistrationRules.longestReason)
        let requested = try domainNames.map(RegistrationRules.distinct)
        return try await calls.run(partner) {
            if !dryRun { try await calls.resolveIfOpen(partner, for: request) }
            let plan = try await self.plan(partner, requested, for: request)
            var view = plan.view
            if !dryRun {
                let content = RegistrationCall.Content.unregister(plan.removed, reason: reason)
                if plan.sending.isEmpty {
                    try await calls.changeDesiredState(to: content, of: partner, reason: reason, for: request)
                } else {
                    _ = try await calls.perform(content, sending: plan.sending, of: partner, for: request)
                }
                view = try await calls.records.registrationAfterRemoval(partner, at: calls.clock.now)
            }
            return UnregistrationResult(
                dryRun: dryRun, domainNames: plan.removed.sorted(), warnings: plan.warnings, view: view)
        }
    }

    /// What an unregistration will do, so that a dry run can report it.
    private struct Plan {
        /// The domains to remove from the desired state.
        let removed: Set<DomainName>
        /// The domains in ``removed`` that Apple has. The call to Apple names only these.
        let sending: Set<DomainName>
        let warnings: [String]
        /// The registration as it is before the unregistration.
        let view: RegistrationView
    }

    private func plan(
        _ partner: PartnerInternalMerchantIdentifier, _ requested: Set<DomainName>?, for request: Request
    ) async throws -> Plan {
        var registration = try await calls.records.read { try $0.existingRegistration(partner) }
        let namesAtApple = registration.appleRecord?.details?.domainNames ?? []
        if requested == nil || requested?.contains(where: { !namesAtApple.contains($0.rawValue) }) == true {
            registration =
                try await calls.storeAppleRecord(
                    try await calls.readAppleRecord(of: partner), of: partner, for: request) ?? registration
        }
        let atApple = Set((registration.appleRecord?.details?.domainNames ?? []).compactMap { DomainName(ascii: $0) })
        let present = registration.desired.domainNames.union(atApple)
        if let unknown = requested?.subtracting(present).min() {
            throw MerchantError(
                .domainNotRegistered,
                "'\(unknown)' is not among the domains of \(partner) (\(present.count.counted("domain"))): check its spelling"
            )
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
    /// The registration after domains were removed, even if no domain is left.
    fileprivate func registrationAfterRemoval(
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
