import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing

/// Events with the audit head, on the real store.
@Suite struct HeadEventTests {
    private let real: RealStore

    init() throws { real = try RealStore() }

    /// The number of events with the audit head.
    private func count() throws -> Int {
        try real.store.readNow { try $0.events(after: nil, merchant: nil, limit: 100) }
            .count { $0.event.kind == .auditHead }
    }

    @Test func `an audit head is reported once, also by two daemons, and a new head is reported again`() async throws {
        try await real.operations.audit.reportHead()
        #expect(try count() == 0, "the audit is empty")
        for number in 1...2 {
            _ = try await real.operations.merchants.addMerchant(
                RealStore.merchant(number), name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
            // Another daemon on the same database has an object of its own.
            let other = Operations(repository: real.store, custodian: NamedKeysCustodian(), clock: real.clock)
            try await real.operations.audit.reportHead()
            try await other.audit.reportHead()
            #expect(try count() == number)
        }
    }
}
