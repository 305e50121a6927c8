import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// A registration as the mirror has it, or as Apple answers now.
    ///
    /// - Throws: `registrationNotFound`.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, refresh: Bool, for request: Request
    ) async throws -> RegistrationView {
        guard refresh else { return try await mirrored(partner) }
        return try await turns.run(partner) {
            if let call = try await self.repository.read({ try $0.openCall(of: partner) }) {
                _ = try await self.settle(call, for: request)
            }
            let known = try await self.ask(partner)
            let now = self.clock.now
            guard let registration = try await self.learn(known, of: partner, for: request) else {
                throw self.unknownHere(partner, known)
            }
            return try await self.repository.read { reading in
                guard try registration.isShown || reading.openCall(of: partner) != nil else {
                    throw MerchantError(
                        .registrationNotFound, "neither Apple nor the mirror has a registration \(partner)")
                }
                return try reading.view(registration, .apple, at: now)
            }
        }
    }

    /// By identifier, at most `limit`.
    package func registrations(
        after cursor: PartnerInternalMerchantIdentifier?, limit: Int
    ) async throws -> [RegistrationView] {
        let now = clock.now
        return try await repository.read { reading in
            try reading.registrations(after: cursor, limit: limit, all: false)
                .map { try reading.view($0, .mirror, at: now, withWarnings: false) }
        }
    }

    private func unknownHere(
        _ partner: PartnerInternalMerchantIdentifier, _ known: KnownRegistration
    ) -> MerchantError {
        guard let details = known.details else {
            return MerchantError(
                .registrationNotFound, "neither Apple nor the mirror has a registration \(partner)")
        }
        return MerchantError(
            .registrationNotFound,
            "Apple has a registration \(partner) with \(details.domainNames.count) domains that was not made here: register its domains to take it over"
        )
    }
}
