package import FoundationEssentials
import NIOCore
import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// The timeout of calls for which the daemon connects to Apple or to a merchant's domain. It is longer than the
    /// daemon waits for Apple, retries included.
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

    /// - Parameter refresh: if true, the daemon asks Apple. Otherwise the daemon returns its own record.
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
        // A registration has up to 99 domains of up to 253 characters, and a page must fit into 16 MiB, the largest
        // response that the client reads.
        try await list(Paths.registrations, pageSize: 250)
    }

    /// Compares one batch of registrations with Apple's records.
    package func syncRegistrations(_ request: SyncRequest) async throws(ClientError) -> Response<SyncDocument> {
        try await call(.POST, Paths.registrationSync, request)
    }

    /// Stores the domain verification file that Apple gave to the platform. It is the same for all domains.
    package func setDomainFile(_ file: Data) async throws(ClientError) -> Response<DomainFileDocument> {
        try await connection.fetch(SocketCall(method: .PUT, path: Paths.domainFile, body: .file(file)))
    }

    /// The size, hash and time of the stored domain verification file, without its bytes.
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
