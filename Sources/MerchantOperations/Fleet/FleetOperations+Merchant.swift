import MerchantCore
package import Vocabulary

extension FleetOperations {
    /// The largest numbers of items in the lists of a merchant's page.
    private static let rollsShown = 20
    private static let registrationsShown = 50
    private static let eventsShown = 50
    private static let auditRecordsShown = 50
    private static let invitationsShown = 20

    /// All that an operator's page shows about one merchant.
    ///
    /// - Throws: `merchantNotFound`, also for a merchant that was removed.
    package func merchant(_ identifier: MerchantIdentifier) async throws -> FleetMerchant {
        let time = confirmedTime.reading()
        let now = time.wall
        return try await records.read { reading in
            let merchant = try reading.existingMerchant(identifier)
            let rolls = try reading.rolls(
                RollFilter(merchant: identifier, step: nil), before: nil, limit: Self.rollsShown + 1)
            let registrations = try reading.registrations(
                of: identifier, after: nil, limit: Self.registrationsShown + 1)
            let events = try reading.events(
                EventQuery(.newest, merchants: [identifier], limit: Self.eventsShown + 1))
            let audit = try reading.auditRecords(
                merchant: identifier, key: nil, before: nil, limit: Self.auditRecordsShown + 1)
            let invitations = try reading.invitations(
                of: identifier, after: nil, limit: Self.invitationsShown + 1)
            return FleetMerchant(
                merchant: try reading.view(merchant),
                progress: try reading.onboardingProgress(of: identifier, policy: policy, at: time),
                keys: try reading.views(try reading.keyPairs(of: identifier), at: now),
                rolls: FleetList(
                    try reading.views(rolls, policy, at: time.earliest), limit: Self.rollsShown),
                registrations: FleetList(
                    try registrations.map { try reading.view($0, .mirror, at: now) },
                    limit: Self.registrationsShown),
                events: FleetList(Array(events.reversed()), limit: Self.eventsShown),
                audit: FleetList(audit, limit: Self.auditRecordsShown),
                invitations: FleetList(invitations, limit: Self.invitationsShown), at: now)
        }
    }
}
