import OutboundHTTP
import Testing

@Suite struct NameResolutionTests {
    @Test func `a name resolves to its addresses, each once`() async throws {
        let found = try await NameResolution.addresses(of: "localhost", within: .seconds(10))
        #expect(found.contains { ["127.0.0.1", "::1"].contains($0.description) })
        #expect(Set(found).count == found.count)
    }

    @Test func `a name without addresses is refused with the system's reason`() async throws {
        await #expect {
            try await NameResolution.addresses(of: "no..name", within: .seconds(10))
        } throws: { error in
            guard case .notResolved(let reason) = error as? NameResolutionError else { return false }
            return !reason.isEmpty
        }
    }
}
