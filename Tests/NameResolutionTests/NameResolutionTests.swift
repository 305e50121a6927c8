import NameResolution
import Testing

@Suite struct NameResolutionTests {
    @Test func `a name's addresses are 4 or 16 bytes, each once`() async throws {
        let found = try await NameResolution.addresses(of: "localhost", within: .seconds(10))
        #expect(found.contains([127, 0, 0, 1]) || found.contains(Array(repeating: 0, count: 15) + [1]))
        #expect(Set(found).count == found.count)
    }

    @Test func `a name that nobody has is refused in the system's words`() async throws {
        await #expect {
            try await NameResolution.addresses(of: "no..name", within: .seconds(10))
        } throws: { error in
            guard case .notResolved(let why) = error as? NameResolutionError else { return false }
            return !why.isEmpty
        }
    }
}
