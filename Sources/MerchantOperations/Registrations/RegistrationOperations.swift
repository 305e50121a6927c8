import MerchantCore
package import Vocabulary

/// Registers and unregisters merchants at Apple, and shows registrations.
package struct RegistrationOperations: Sendable {
    let calls: RegistrationCalls

    package init(calls: RegistrationCalls) { self.calls = calls }

    /// Registers a merchant at Apple, or adds domains to the merchant's registration. It is safe to repeat the request.
    ///
    /// - Parameter owner: the merchant that an existing registration must belong to. A new registration has the owner
    ///   as `encryptTo`, unless the order names another identifier. nil accepts any registration, and the default of
    ///   `encryptTo` is then the only platform integrator.
    /// - Throws: before the call to Apple, `malformed`, `tooManyDomains`, `merchantNotFound`, or `registrationConflict`
    ///   if an earlier call with an unknown outcome conflicts with the new call. After the call,
    ///   `gatewayResponseNotReceived` if the outcome of the call is unknown, or another code `gateway…` if the call
    ///   failed.
    package func register(
        _ order: RequestedRegistration, ownedBy owner: MerchantIdentifier? = nil, for request: Request
    ) async throws -> RegistrationView {
        let domainNames = try RegistrationRules.distinct(order.domainNames)
        if let name = order.partnerMerchantName {
            _ = try DisplayText(name, named: "partnerMerchantName", longest: RegistrationRules.longestName)
        }
        if let url = order.merchantUrl { try RegistrationRules.check(merchantUrl: url) }
        let partner = order.partnerInternalMerchantIdentifier
        return try await calls.run(partner) {
            if let owner { try await requireOwner(owner, of: partner) }
            if try await hasSucceeded(request) { return try await calls.storedView(of: partner) }
            try await calls.resolveIfOpen(partner, for: request)
            let desired = try await calls.records.read { try $0.desiredRegistration(order, domainNames, owner: owner) }
            let content = RegistrationCall.Content.register(desired, merchant: order.merchantIdentifier)
            let sending = try await domainsToSend(desired, of: partner, for: request)
            if sending.isEmpty {
                try await calls.changeDesiredState(
                    to: content, of: partner, reason: "Apple's record has these values already", for: request)
            } else {
                _ = try await calls.perform(content, sending: sending, of: partner, for: request)
            }
            return try await calls.storedView(of: partner)
        }
    }

    /// - Throws: `malformed` if the registration exists and does not belong to the merchant.
    private func requireOwner(
        _ owner: MerchantIdentifier, of partner: PartnerInternalMerchantIdentifier
    ) async throws {
        guard let registration = try await calls.records.read({ try $0.registration(partner) }),
            registration.merchantIdentifier != owner
        else { return }
        throw MerchantError(
            .malformed,
            "'partnerInternalMerchantIdentifier' is \(partner), which cannot be used for \(owner): use another one, such as \(owner)"
        )
    }

    /// Whether an earlier request with the same Idempotency-Key has succeeded.
    private func hasSucceeded(_ request: Request) async throws -> Bool {
        guard request.idempotency != nil else { return false }
        // Changes nothing, but only write transactions can look up an Idempotency-Key.
        return try await calls.records.write { try request.idempotency.earlierResource(in: $0) != nil }
    }

    /// The domains to send to Apple: those that Apple does not have yet; all of them if the name, encryptTo or URL
    /// differs.
    ///
    /// Apple does not document what happens to a domain that is already registered. So if one of the domains may be
    /// registered already, this method reads Apple's record first.
    private func domainsToSend(
        _ desired: DesiredRegistration, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Set<DomainName> {
        guard let registration = try await calls.records.read({ try $0.registration(partner) }) else {
            return desired.domainNames
        }
        let counted = registration.countedDomains
        guard desired.domainNames.contains(where: { counted.contains($0.rawValue) }) else { return desired.domainNames }
        let appleRecord = try await calls.readAppleRecord(of: partner)
        try await calls.storeAppleRecord(appleRecord, of: partner, for: request)
        // Apple's record does not contain the URL, so compare it with the stored registration.
        guard let details = appleRecord.details, details.partnerMerchantName == desired.partnerMerchantName,
            details.encryptToHash.uppercased() == desired.encryptTo.appleHash,
            registration.desired.merchantUrl == desired.merchantUrl
        else { return desired.domainNames }
        return desired.domainNames.filter { !details.domainNames.contains($0.rawValue) }
    }
}

extension RegistrationReading where Self: MerchantReading {
    /// Checks the order, and returns the registration that it requests. Values that the order omits come from the
    /// stored registration.
    fileprivate func desiredRegistration(
        _ order: RequestedRegistration, _ domainNames: Set<DomainName>, owner: MerchantIdentifier?
    ) throws -> DesiredRegistration {
        let registration = try registration(order.partnerInternalMerchantIdentifier)
        try RegistrationRules.checkTotal(of: registration, adding: domainNames)
        if let merchant = order.merchantIdentifier { _ = try existingMerchant(merchant) }
        // A registration without domains provides no values: Apple never confirmed it, or it was unregistered.
        let before = registration.flatMap { $0.isShown ? $0.desired : nil }
        guard let name = order.partnerMerchantName ?? before?.partnerMerchantName else {
            throw MerchantError(.malformed, "'partnerMerchantName' is missing: give a name for a new registration")
        }
        return DesiredRegistration(
            partnerMerchantName: name, domainNames: domainNames,
            encryptTo: try order.encryptTo ?? before?.encryptTo ?? owner ?? onlyPlatformIntegrator(),
            merchantUrl: order.merchantUrl ?? before?.merchantUrl)
    }

    /// The only platform integrator, which is the default for encryptTo if an admin registers the merchant.
    ///
    /// - Throws: `malformed` if there is no platform integrator, or more than one.
    private func onlyPlatformIntegrator() throws -> MerchantIdentifier {
        let integrators = try platformIntegrators(limit: 2)
        guard let integrator = integrators.first, integrators.count == 1 else {
            throw MerchantError(
                .malformed,
                "'encryptTo' is missing, and \(integrators.isEmpty ? "no merchant" : "more than one merchant") is a platform integrator (platformintegrator.…): give encryptTo"
            )
        }
        return integrator
    }
}
