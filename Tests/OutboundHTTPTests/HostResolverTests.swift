import OutboundHTTP
import Testing

@Suite struct HostResolverTests {
    private static func addresses(_ texts: String...) throws -> [NetworkAddress] {
        try texts.map { try #require(NetworkAddress($0)) }
    }

    @Test func `internal addresses that are not allowed are left out if there is a public one`() throws {
        let found = try Self.addresses("10.0.0.1", "8.8.8.8", "::1")
        #expect(try HostResolver(allowsInternalAddresses: false).usable(found) == Self.addresses("8.8.8.8"))
        #expect(try HostResolver(allowsInternalAddresses: true).usable(found) == found)
    }

    @Test func `a host with only internal addresses is refused if they are not allowed, naming the first`() throws {
        let found = try Self.addresses("10.0.0.1", "::1")
        #expect(throws: HostResolutionError.internalAddress(found[0])) {
            try HostResolver(allowsInternalAddresses: false).usable(found)
        }
        #expect(throws: HostResolutionError.noAddress) { try HostResolver(allowsInternalAddresses: true).usable([]) }
    }

    @Test func `a name is resolved, and refused if its addresses are internal and not allowed`() async throws {
        #expect(
            try await !HostResolver(allowsInternalAddresses: true).addresses(of: "localhost", within: .seconds(10))
                .isEmpty)
        await #expect {
            _ = try await HostResolver(allowsInternalAddresses: false).addresses(of: "localhost", within: .seconds(10))
        } throws: { error in
            if case .internalAddress = error as? HostResolutionError { true } else { false }
        }
        await #expect {
            _ = try await HostResolver(allowsInternalAddresses: true).addresses(of: "no..name", within: .seconds(10))
        } throws: { error in
            if case .notResolved = error as? HostResolutionError { true } else { false }
        }
    }
}
