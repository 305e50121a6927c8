import MerchantCore
import MerchantOperations
import Testing
import Vocabulary

@Suite struct KeyListTests {
    @Test func `a list of the key pairs or pending key pairs of an unknown merchant is refused`() async throws {
        let keys = try await Bench().operations.keys
        let unknown = try #require(MerchantIdentifier("merchant.com.example.unknown"))
        let all = await refusal { _ = try await keys.keyPairs(of: unknown) }
        let pending = await refusal { _ = try await keys.pendingKeyPairs(of: unknown) }
        #expect(all?.code == .merchantNotFound && pending?.code == .merchantNotFound)
    }
}
