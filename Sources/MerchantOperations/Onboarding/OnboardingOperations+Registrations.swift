package import MerchantCore
package import Vocabulary

extension OnboardingOperations {
    /// The registrations that belong to the merchant, oldest first, starting after `cursor`, at most `limit`.
    ///
    /// - Throws: `merchantNotFound`.
    package func registrations(
        of merchant: MerchantIdentifier, after cursor: PartnerInternalMerchantIdentifier?, limit: Int,
        in scope: MerchantScope
    ) async throws -> [RegistrationView] {
        let now = clock.now
        return try await within(scope, merchant) {
            try await records.read { reading in
                _ = try reading.existingMerchant(merchant)
                return try reading.registrations(of: merchant, after: cursor, limit: limit)
                    .map { try reading.view($0, .mirror, at: now) }
            }
        }
    }

    /// - Throws: `registrationNotFound`, also for a registration that belongs to no merchant.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, in scope: MerchantScope, for request: Request
    ) async throws -> RegistrationView {
        guard try await scope.contains(owner(ofRegistration: partner)) else {
            throw MerchantError.registrationNotFound(partner)
        }
        return try await useCases.registrations.registration(partner, refresh: false, for: request)
    }

    /// The identifier for a merchant's registration if the client gives none: the merchant identifier itself. Apple
    /// permits all of its characters in the identifier of a registration.
    package static func defaultPartner(for merchant: MerchantIdentifier) -> PartnerInternalMerchantIdentifier {
        guard let partner = PartnerInternalMerchantIdentifier(text: merchant.rawValue) else {
            preconditionFailure("a merchant identifier has only characters that this identifier may have")
        }
        return partner
    }

    /// Registers domains of a merchant at Apple.
    ///
    /// - Parameter order: its `merchantIdentifier` names the merchant. Its `encryptTo` must be absent, the merchant
    ///   itself or a platform integrator. If it is absent, an existing registration keeps its value, and a new
    ///   registration gets the merchant itself, because the merchant uploads its own certificate on the portal.
    /// - Throws: `malformed`, also for a `partnerInternalMerchantIdentifier` that is in use for another registration,
    ///   or that is another merchant's identifier, whether that merchant exists or not; `merchantNotFound`; and the
    ///   errors of ``RegistrationOperations/register(_:ownedBy:for:)``.
    package func register(
        _ order: RequestedRegistration, in scope: MerchantScope, for request: Request
    ) async throws -> RegistrationView {
        guard let merchant = order.merchantIdentifier else {
            throw MerchantError(
                .malformed, "'merchantIdentifier' is missing: give the merchant whose domains these are")
        }
        return try await within(scope, merchant) {
            // Otherwise a merchant could take the identifier under which the portal registers another merchant's
            // domains.
            if let named = MerchantIdentifier(text: order.partnerInternalMerchantIdentifier.rawValue),
                named != merchant
            {
                throw MerchantError(
                    .malformed,
                    "'partnerInternalMerchantIdentifier' is a merchant identifier other than \(merchant): give \(merchant), or a name that does not begin with 'merchant.' or 'platformintegrator.'"
                )
            }
            if let encryptTo = order.encryptTo, encryptTo != merchant, !encryptTo.isPlatformIntegrator {
                throw MerchantError(
                    .malformed,
                    "'encryptTo' is \(encryptTo), expected \(merchant) or the platform's own identifier: leave the field out if you do not know it"
                )
            }
            return try await useCases.registrations.register(order, ownedBy: merchant, for: request)
        }
    }

    /// Removes domains of a registration at Apple, or the whole registration.
    ///
    /// - Parameter domainNames: nil for all domains.
    /// - Throws: `registrationNotFound`, and the errors of
    ///   ``RegistrationOperations/unregister(_:domainNames:reason:dryRun:for:)``.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, domainNames: [DomainName]?, reason: String, dryRun: Bool,
        in scope: MerchantScope, for request: Request
    ) async throws -> UnregistrationResult {
        _ = try await registration(partner, in: scope, for: request)
        return try await useCases.registrations.unregister(
            partner, domainNames: domainNames, reason: reason, dryRun: dryRun, for: request)
    }

    /// The file that every registered domain must serve.
    ///
    /// - Throws: `domainFileNotSet`.
    package func domainFile() async throws -> DomainFile { try await useCases.domains.domainFile() }

    /// Checks a domain in the same way as Apple does when the domain is registered.
    ///
    /// - Throws: `domainFileNotSet`.
    package func checkDomain(_ domain: DomainName) async throws -> DomainCheckReport {
        try await useCases.domains.checkDomain(domain)
    }
}
