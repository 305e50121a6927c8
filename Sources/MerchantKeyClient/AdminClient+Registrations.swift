package import FoundationEssentials
import NIOCore
import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// Longer than the daemon waits for Apple, repeats included.
    private static let patienceWithApple: TimeAmount = .seconds(300)

    /// Registers a merchant with Apple, or adds domains to its registration.
    package func register(_ request: RegisterRequest) async throws(ClientError) -> Answer<RegistrationDocument> {
        try await call(.POST, Paths.registrations, request)
    }

    /// - Parameter dryRun: says what would be removed, and removes nothing.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, _ request: UnregisterRequest, dryRun: Bool
    ) async throws(ClientError) -> Answer<WithdrawalDocument> {
        try await call(
            .DELETE, Paths.registration(partner), request, query: dryRun ? [("dryRun", "true")] : [])
    }

    /// - Parameter refresh: asks Apple rather than the mirror.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, refresh: Bool
    ) async throws(ClientError) -> Answer<RegistrationDocument> {
        var call = SocketCall(path: Paths.registration(partner))
        if refresh { call.query = [("refresh", "true")] }
        call.patience = Self.patienceWithApple
        return try await connection.fetch(call)
    }

    /// Every registration, by identifier.
    package func registrations() async throws(ClientError) -> Listing<RegistrationDocument> {
        // 99 domains of 253 characters each: what one answer may hold has to do for all of a page.
        try await list(Paths.registrations, page: 250)
    }

    /// One stretch of the comparison with Apple.
    package func syncRegistrations(_ request: SyncRequest) async throws(ClientError) -> Answer<SyncDocument> {
        try await call(.POST, Paths.registrationSync, request)
    }

    package func setDomainFile(_ file: Data) async throws(ClientError) -> Answer<DomainFileDocument> {
        try await connection.fetch(SocketCall(method: .PUT, path: Paths.domainFile, body: .file(file)))
    }

    package func domainFile() async throws(ClientError) -> Answer<DomainFileDocument> {
        try await connection.fetch(SocketCall(path: Paths.domainFile))
    }

    /// Byte for byte what a domain has to serve.
    package func domainFileBytes() async throws(ClientError) -> Data {
        try await connection.send(SocketCall(path: Paths.wellKnownDomainFile, accept: "text/plain"))
    }

    package func checkDomain(_ domain: DomainName) async throws(ClientError) -> Answer<DomainCheckDocument> {
        try await call(.POST, Paths.domainChecks, DomainCheckRequest(domainName: domain.rawValue))
    }

    private func call<Document: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, _ body: some RequestBody, query: [(name: String, value: String)] = []
    ) async throws(ClientError) -> Answer<Document> {
        try await connection.fetch(
            SocketCall(
                method: method, path: path, query: query, body: try .encoded(body),
                patience: Self.patienceWithApple))
    }
}
