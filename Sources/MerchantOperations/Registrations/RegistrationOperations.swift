import MerchantCore
import Vocabulary

/// Registers and unregisters merchants at Apple, and shows registrations.
package struct RegistrationOperations: Sendable {
    let calls: RegistrationCalls

    package init(calls: RegistrationCalls) { self.calls = calls }

    /// Registers a merchant at Apple, or adds domains to its registration. It is safe to repeat.
    ///
    /// - Throws: before the call to Apple, `malformed`, `tooManyDomains`, `merchantNotFound`, or `registrationConflict`
    ///   if an earlier call with an unknown outcome conflicts with this one. After the call,
    ///   `gatewayResponseNotReceived` if its outcome is unknown, or another code `gateway…` if it failed.
    package func register(_ order: RegistrationOrder, for request: Request) async throws -> RegistrationView {
        let domainNames = try RegistrationRules.distinct(order.domainNames)
        if let name = order.partnerMerchantName {
            _ = try DisplayText(name, named: "partnerMerchantName", longest: RegistrationRules.longestName)
        }
        if let url = order.merchantUrl { try RegistrationRules.check(merchantUrl: url) }
        let partner = order.partnerInternalMerchantIdentifier
        return try await calls.run(partner) {
            if try await wasDone(request) { return try await calls.stored(partner) }
            try await calls.resolveIfOpen(partner, for: request)
            let wanted = try await calls.records.read { try $0.wanted(order, domainNames) }
            let content = RegistrationCall.Content.register(wanted, merchant: order.merchantIdentifier)
            let sending = try await missing(wanted, of: partner, for: request)
            if sending.isEmpty {
                try await calls.adopt(content, of: partner, reason: "Apple has it already", for: request)
            } else {
                _ = try await calls.perform(content, sending: sending, of: partner, for: request)
            }
            return try await calls.stored(partner)
        }
    }

    /// Whether an earlier request with the same Idempotency-Key has succeeded.
    private func wasDone(_ request: Request) async throws -> Bool {
        guard request.idempotency != nil else { return false }
        return try await calls.records.write { try request.idempotency.earlierResource(in: $0) != nil }
    }

    /// The domains to send to Apple: those that Apple does not have yet; all of them if the name, encryptTo or URL
    /// differs.
    ///
    /// Apple does not document what it does with a domain that it has already. So if Apple may have one of the domains,
    /// this reads Apple's record first.
    private func missing(
        _ wanted: DesiredRegistration, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Set<DomainName> {
        guard let registration = try await calls.records.read({ try $0.registration(partner) }) else {
            return wanted.domainNames
        }
        let counted = registration.countedDomains
        guard wanted.domainNames.contains(where: { counted.contains($0.rawValue) }) else { return wanted.domainNames }
        let known = try await calls.ask(partner)
        try await calls.learn(known, of: partner, for: request)
        guard let details = known.details, details.partnerMerchantName == wanted.partnerMerchantName,
            details.encryptToHash.uppercased() == wanted.encryptTo.appleHash,
            registration.desired.merchantUrl == wanted.merchantUrl
        else { return wanted.domainNames }
        return wanted.domainNames.filter { !details.domainNames.contains($0.rawValue) }
    }
}

extension RegistrationReading where Self: MerchantReading {
    /// Checks the order. Values that the order omits come from the stored registration.
    fileprivate func wanted(
        _ order: RegistrationOrder, _ domainNames: Set<DomainName>
    ) throws -> DesiredRegistration {
        let registration = try registration(order.partnerInternalMerchantIdentifier)
        try RegistrationRules.checkTotal(of: registration, adding: domainNames)
        if let merchant = order.merchantIdentifier { _ = try existingMerchant(merchant) }
        // A registration that Apple has never confirmed provides no values.
        let before = registration.flatMap { $0.isShown ? $0.desired : nil }
        guard let name = order.partnerMerchantName ?? before?.partnerMerchantName else {
            throw MerchantError(.malformed, "'partnerMerchantName' is missing, expected a name for a new registration")
        }
        return DesiredRegistration(
            partnerMerchantName: name, domainNames: domainNames,
            encryptTo: try order.encryptTo ?? before?.encryptTo ?? integrator(),
            merchantUrl: order.merchantUrl ?? before?.merchantUrl)
    }

    /// The only platform integrator, which is the default for encryptTo.
    private func integrator() throws -> MerchantIdentifier {
        let integrators = try platformIntegrators(limit: 2)
        guard let integrator = integrators.first, integrators.count == 1 else {
            throw MerchantError(
                .malformed,
                "'encryptTo' is missing and there \(integrators.isEmpty ? "is no merchant" : "are several merchants") platformintegrator.…, expected encryptTo, or exactly one such merchant"
            )
        }
        return integrator
    }
}
