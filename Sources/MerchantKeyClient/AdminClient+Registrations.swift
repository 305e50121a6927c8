package import FoundationEssentials
import NIOCore
import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// Longer than the daemon waits for Apple, including its repeated requests.
    private static let appleTimeout: TimeAmount = .seconds(300)

    /// Registers a merchant with Apple, or adds domains to its registration.
    package func register(_ request: RegisterRequest) async throws(ClientError) -> Response<RegistrationDocument> {
        try await call(.POST, Paths.registrations, request)
    }

    /// Unregisters domains of a merchant with Apple.
    ///
    /// - Parameter dryRun: if true, the daemon returns which domains it would unregister, and changes nothing.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, _ request: UnregisterRequest, dryRun: Bool
    ) async throws(ClientError) -> Response<WithdrawalDocument> {
        try await call(
            .DELETE, Paths.registration(partner), request, query: dryRun ? [("dryRun", "true")] : [])
    }

    /// - Parameter refresh: if true, the daemon asks Apple. Otherwise it returns its own record.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, refresh: Bool
    ) async throws(ClientError) -> Response<RegistrationDocument> {
        var call = SocketCall(path: Paths.registration(partner))
        if refresh { call.query = [("refresh", "true")] }
        call.timeout = Self.appleTimeout
        return try await connection.fetch(call)
    }

    /// Every registration, sorted by identifier.
    package func registrations() async throws(ClientError) -> Listing<RegistrationDocument> {
        // A registration has up to 99 domains of up to 253 characters. A page must fit into the largest response, 16
        // MiB.
        try await list(Paths.registrations, page: 250)
    }

    /// Compares one batch of registrations with Apple's records.
    package func syncRegistrations(_ request: SyncRequest) async throws(ClientError) -> Response<SyncDocument> {
        try await call(.POST, Paths.registrationSync, request)
    }

    package func setDomainFile(_ file: Data) async throws(ClientError) -> Response<DomainFileDocument> {
        try await connection.fetch(SocketCall(method: .PUT, path: Paths.domainFile, body: .file(file)))
    }

    package func domainFile() async throws(ClientError) -> Response<DomainFileDocument> {
        try await connection.fetch(SocketCall(path: Paths.domainFile))
    }

    /// The domain verification file, which a merchant's domain must serve unchanged.
    package func domainFileBytes() async throws(ClientError) -> Data {
        try await connection.send(SocketCall(path: Paths.wellKnownDomainFile, accept: "text/plain"))
    }

    package func checkDomain(_ domain: DomainName) async throws(ClientError) -> Response<DomainCheckDocument> {
        try await call(.POST, Paths.domainChecks, DomainCheckRequest(domain))
    }

    private func call<Document: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, _ body: some RequestBody, query: [(name: String, value: String)] = []
    ) async throws(ClientError) -> Response<Document> {
        try await connection.fetch(
            SocketCall(
                method: method, path: path, query: query, body: try .encoded(body),
                timeout: Self.appleTimeout))
    }
}
