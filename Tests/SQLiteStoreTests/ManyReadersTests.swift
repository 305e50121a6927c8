import MerchantCore
import SQLiteStore
import Testing
import Vocabulary

@Suite struct ManyReadersTests {
    @Test(.timeLimit(.minutes(1)))
    func `asynchronous and blocking reads do not deadlock`() async throws {
        let temporary = try TemporaryStore()
        try await temporary.onboard()
        let store = temporary.store
        let found = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    var found = 0
                    for _ in 0..<50 {
                        found += try await store.read { try $0.keyPairs(of: Sample.merchant).count }
                        found += try store.readNow { try $0.keyPairs(of: Sample.merchant).count }
                    }
                    return found
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(found == 64 * 50 * 2)
    }
}
