import MerchantCore
package import Vocabulary

extension RegistrationOperations {
    /// A registration as the daemon has stored it or, with `refresh`, as Apple has it now.
    ///
    /// - Throws: `registrationNotFound`; with `refresh` also a code `gateway…` if Apple cannot be asked.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, refresh: Bool, for request: Request
    ) async throws -> RegistrationView {
        guard refresh else { return try await calls.stored(partner) }
        return try await calls.run(partner) {
            if let call = try await calls.records.read({ try $0.openCall(of: partner) }) {
                _ = try await calls.resolve(call, for: request)
            }
            let known = try await calls.ask(partner)
            let now = calls.clock.now
            guard let registration = try await calls.learn(known, of: partner, for: request) else {
                throw unknownHere(partner, known)
            }
            return try await calls.records.read { reading in
                guard try registration.isShown || reading.openCall(of: partner) != nil else {
                    throw MerchantError(
                        .registrationNotFound, "neither this daemon nor Apple has a registration \(partner)")
                }
                return try reading.view(registration, .apple, at: now)
            }
        }
    }

    /// Stored registrations, sorted by identifier, starting after `cursor`, at most `limit`.
    package func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int
    ) async throws -> [RegistrationView] {
        let now = calls.clock.now
        return try await calls.records.read { reading in
            try reading.registrations(after: cursor, limit: limit, all: false)
                .map { try reading.view($0, .mirror, at: now, withWarnings: false) }
        }
    }

    private func unknownHere(
        _ partner: PartnerInternalMerchantIdentifier, _ known: KnownRegistration
    ) -> MerchantError {
        guard let details = known.details else {
            return MerchantError(
                .registrationNotFound, "neither this daemon nor Apple has a registration \(partner)")
        }
        return MerchantError(
            .registrationNotFound,
            "Apple has a registration \(partner) with \(details.domainNames.count) domains that this daemon did not register: register its domains to take it over"
        )
    }
}
