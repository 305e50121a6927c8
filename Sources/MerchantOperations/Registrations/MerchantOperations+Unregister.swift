import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// Removes domains of a registration at Apple, or all of it.
    ///
    /// - Parameters:
    ///   - domainNames: nil for every domain that Apple has, which is asked first.
    ///   - reason: 1 to 1024 bytes; Apple is told.
    /// - Throws: `registrationNotFound`; `domainNotRegistered` for a domain that is neither wanted nor known at Apple; then
    ///   as ``register(_:for:)``.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName]?, reason: String, dryRun: Bool,
        for request: Request
    ) async throws -> RegistrationWithdrawal {
        _ = try DisplayText(reason, named: "reason", longest: RegistrationRules.longestReason)
        let some = try domainNames.map(RegistrationRules.distinct)
        return try await turns.run(partner) {
            if !dryRun { try await self.settleIfOpen(partner, for: request) }
            let plan = try await self.plan(partner, some, for: request)
            var view = plan.view
            if !dryRun {
                let content = RegistrationCall.Content.unregister(plan.removed, reason: reason)
                if plan.sending.isEmpty {
                    try await self.adopt(content, of: partner, reason: reason, for: request)
                } else {
                    _ = try await self.perform(content, sending: plan.sending, of: partner, for: request)
                }
                view = try await self.withdrawn(partner)
            }
            return RegistrationWithdrawal(
                dryRun: dryRun, domainNames: plan.removed.sorted(), warnings: plan.warnings, view: view)
        }
    }

    private struct Plan {
        /// What is no longer wanted.
        let removed: Set<DomainName>
        /// What Apple is told to remove: nothing that it does not have.
        let sending: Set<DomainName>
        let warnings: [String]
        let view: RegistrationView
    }

    private func plan(
        _ partner: PartnerInternalMerchantIdentifier, _ some: Set<DomainName>?, for request: Request
    ) async throws -> Plan {
        var registration = try await repository.read { try $0.existingRegistration(partner) }
        let known = registration.known?.details?.domainNames ?? []
        if some == nil || some?.contains(where: { !known.contains($0.rawValue) }) == true {
            registration = try await learn(try await ask(partner), of: partner, for: request) ?? registration
        }
        let atApple = Set((registration.known?.details?.domainNames ?? []).compactMap { DomainName(ascii: $0) })
        let present = registration.desired.domainNames.union(atApple)
        if let stranger = some?.subtracting(present).min() {
            throw MerchantError(
                .domainNotRegistered,
                "'\(stranger)' is not registered for \(partner), expected some of its \(present.count) domains")
        }
        let removed = some ?? present
        let now = clock.now
        let (current, after) = (registration, present.subtracting(removed))
        let view = try await repository.read { try $0.view(current, .mirror, at: now) }
        return Plan(
            removed: removed, sending: removed.intersection(atApple),
            warnings: after.isEmpty
                ? ["no domain is left: the registration is gone at Apple, and Apple Pay stops on every one of them"]
                : [], view: view)
    }

    /// What is left, also where that is nothing.
    private func withdrawn(_ partner: PartnerInternalMerchantIdentifier) async throws -> RegistrationView {
        let now = clock.now
        return try await repository.read { reading in
            guard let registration = try reading.registration(partner) else {
                throw MerchantError(.internalError, "the registration \(partner) vanished")
            }
            return try reading.view(registration, .mirror, at: now)
        }
    }
}
