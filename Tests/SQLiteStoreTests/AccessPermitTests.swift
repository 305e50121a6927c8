import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

/// The schema lists the sets of permits that an access can have.
@Suite struct AccessPermitTests {
    private static let sets: [Set<Permit>] = PortalPermits.permitted.sorted { $0.rawValue < $1.rawValue }
        .reduce(into: [[]]) { sets, permit in sets += sets.map { $0.union([permit]) } }
        .filter { !$0.isEmpty }

    @Test("an access can have any nonempty set of the permits of the portal", arguments: sets)
    func stored(permits: Set<Permit>) async throws {
        let temporary = try TemporaryStore()
        let name = try #require(AccessName("checkout"))
        try await temporary.store.write {
            try $0.insert(
                Access(name: name, permits: permits, merchants: nil, secrets: [], createdAt: Sample.time))
        }
        #expect(try await temporary.store.read { try $0.access(name) }?.permits == permits)
    }
}
