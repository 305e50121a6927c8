import MerchantCore
package import Vocabulary

extension RegistrationOperations {
    /// A registration as the daemon has stored it. With `refresh`, the daemon reads Apple's record first and stores it.
    ///
    /// - Throws: `registrationNotFound`; with `refresh` also a code `gateway…` if Apple's record cannot be read.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, refresh: Bool, for request: Request
    ) async throws -> RegistrationView {
        guard refresh else { return try await calls.storedView(of: partner) }
        return try await calls.run(partner) {
            if let call = try await calls.records.read({ try $0.openCall(of: partner) }) {
                _ = try await calls.resolve(call, for: request)
            }
            let appleRecord = try await calls.readAppleRecord(of: partner)
            let now = calls.clock.now
            guard let registration = try await calls.storeAppleRecord(appleRecord, of: partner, for: request) else {
                throw notStored(partner, appleRecord)
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

    /// The error that the daemon has not stored a registration, which says whether Apple has one.
    private func notStored(
        _ partner: PartnerInternalMerchantIdentifier, _ appleRecord: AppleRecord
    ) -> MerchantError {
        guard let details = appleRecord.details else {
            return MerchantError(
                .registrationNotFound, "neither this daemon nor Apple has a registration \(partner)")
        }
        return MerchantError(
            .registrationNotFound,
            "this daemon did not register \(partner), but Apple has a registration with that name and \(details.domainNames.count.counted("domain")): to manage it here, register its domains with this daemon"
        )
    }
}
