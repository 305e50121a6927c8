import MerchantCore
import Vocabulary

extension MerchantOperations {
    /// Registers a merchant with Apple, or adds domains to its registration. Repeating it is safe.
    ///
    /// - Throws: `malformed`, `tooManyDomains`, `merchantNotFound` before Apple is asked; then what Apple or the way there
    ///   says (`gateway…`), with `gatewayResponseNotReceived` where nobody knows yet whether it is done.
    package func register(_ order: RegistrationOrder, for request: Request) async throws -> RegistrationView {
        let domainNames = try RegistrationRules.distinct(order.domainNames)
        if let name = order.partnerMerchantName {
            _ = try DisplayText(name, named: "partnerMerchantName", longest: RegistrationRules.longestName)
        }
        if let url = order.merchantUrl { try RegistrationRules.judge(merchantUrl: url) }
        let partner = order.partnerInternalMerchantIdentifier
        return try await turns.run(partner) {
            if try await self.wasDone(request) { return try await self.mirrored(partner) }
            try await self.settleIfOpen(partner, for: request)
            let wanted = try await self.repository.read { try $0.wanted(order, domainNames) }
            let content = RegistrationCall.Content.register(wanted, merchant: order.merchantIdentifier)
            let sending = try await self.missing(wanted, of: partner, for: request)
            if sending.isEmpty {
                try await self.adopt(content, of: partner, reason: "Apple had it already", for: request)
            } else {
                _ = try await self.perform(content, sending: sending, of: partner, for: request)
            }
            return try await self.mirrored(partner)
        }
    }

    /// The mirror's word on a registration.
    func mirrored(_ partner: PartnerInternalMerchantIdentifier) async throws -> RegistrationView {
        let now = clock.now
        return try await repository.read { try $0.view(try $0.existingRegistration(partner), .mirror, at: now) }
    }

    /// Changes what is wanted to what Apple has already: there is nothing to ask of it.
    func adopt(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, reason: String,
        for request: Request
    ) async throws {
        let now = clock.now
        try await repository.write { transaction in
            guard let before = try transaction.registration(partner) else { return }
            _ = try self.requireCovered(partner, by: content, in: transaction)
            var after = before
            after.apply(content, at: now)
            if after != before {
                try transaction.update(after)
                try transaction.append(
                    request.entry(
                        .registrationChanged, at: now, merchant: after.merchantIdentifier, before: before.summary,
                        after: after.summary, reason: content.reason ?? reason))
            }
            try request.idempotency.remember(partner.rawValue, at: self.confirmedTime.reading(), in: transaction)
        }
    }

    private func wasDone(_ request: Request) async throws -> Bool {
        guard request.idempotency != nil else { return false }
        return try await repository.write { try request.idempotency.earlierResource(in: $0) != nil }
    }

    /// Which of the domains Apple is to be told: all where anything else differs, and none where it has everything.
    ///
    /// What Apple makes of a domain that it has already is not documented, so it is asked first where one may be.
    private func missing(
        _ wanted: DesiredRegistration, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Set<DomainName> {
        guard let registration = try await repository.read({ try $0.registration(partner) }) else {
            return wanted.domainNames
        }
        let counted = registration.countedDomains
        guard wanted.domainNames.contains(where: { counted.contains($0.rawValue) }) else { return wanted.domainNames }
        let known = try await ask(partner)
        try await learn(known, of: partner, for: request)
        guard let details = known.details, details.partnerMerchantName == wanted.partnerMerchantName,
            details.encryptToHash.uppercased() == wanted.encryptTo.appleHash,
            registration.desired.merchantUrl == wanted.merchantUrl
        else { return wanted.domainNames }
        return wanted.domainNames.filter { !details.domainNames.contains($0.rawValue) }
    }
}

extension MerchantReading {
    /// The order with what it leaves open filled in, judged as a whole.
    fileprivate func wanted(
        _ order: RegistrationOrder, _ domainNames: Set<DomainName>
    ) throws -> DesiredRegistration {
        let registration = try registration(order.partnerInternalMerchantIdentifier)
        try RegistrationRules.judgeTotal(of: registration, adding: domainNames)
        if let merchant = order.merchantIdentifier { _ = try existingMerchant(merchant) }
        // What was never acknowledged is no default.
        let before = registration.flatMap { $0.isShown ? $0.desired : nil }
        guard let name = order.partnerMerchantName ?? before?.partnerMerchantName else {
            throw MerchantError(.malformed, "'partnerMerchantName' is missing, expected a name for a new registration")
        }
        return DesiredRegistration(
            partnerMerchantName: name, domainNames: domainNames,
            encryptTo: try order.encryptTo ?? before?.encryptTo ?? integrator(),
            merchantUrl: order.merchantUrl ?? before?.merchantUrl)
    }

    private func integrator() throws -> MerchantIdentifier {
        let integrators = try platformIntegrators(limit: 2)
        guard let integrator = integrators.first, integrators.count == 1 else {
            throw MerchantError(
                .malformed,
                "'encryptTo' is missing and there \(integrators.isEmpty ? "is no merchant record" : "are several merchant records") platformintegrator.…, expected encryptTo, or exactly one such record"
            )
        }
        return integrator
    }
}
