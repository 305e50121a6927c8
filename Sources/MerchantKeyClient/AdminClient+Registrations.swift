package import FoundationEssentials
import NIOCore
import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// The timeout of calls for which the daemon connects to Apple or to a merchant's domain. The daemon itself stops
    /// waiting for Apple earlier, even if it retries its request.
    static let appleTimeout: TimeAmount = .seconds(300)

    /// Registers a merchant with Apple, or adds domains to its registration.
    package func register(_ request: RegisterRequest) async throws(ClientError) -> Response<RegistrationDocument> {
        try await call(.POST, Paths.registrations, request)
    }

    /// Unregisters domains of a merchant with Apple.
    ///
    /// - Parameters:
    ///   - partner: the platform's own identifier of the merchant.
    ///   - dryRun: if true, the daemon returns which domains it would unregister, and changes nothing.
    package func unregister(
        _ partner: PartnerInternalMerchantIdentifier, _ request: UnregisterRequest, dryRun: Bool
    ) async throws(ClientError) -> Response<UnregistrationDocument> {
        try await call(
            .DELETE, Paths.registration(partner), request, query: dryRun ? [("dryRun", "true")] : [])
    }

    /// The registration of one merchant.
    ///
    /// - Parameters:
    ///   - partner: the platform's own identifier of the merchant.
    ///   - refresh: if true, the daemon reads and returns Apple's record. Otherwise it returns its own record.
    package func registration(
        _ partner: PartnerInternalMerchantIdentifier, refresh: Bool
    ) async throws(ClientError) -> Response<RegistrationDocument> {
        var call = SocketCall(path: Paths.registration(partner))
        if refresh { call.query = [("refresh", "true")] }
        call.timeout = Self.appleTimeout
        return try await httpClient.fetch(call)
    }

    /// Every registration, sorted by identifier.
    package func registrations() async throws(ClientError) -> Listing<RegistrationDocument> {
        // A registration has up to 99 domains of up to 253 characters, and a page must fit into 16 MiB, the largest
        // response that the client reads.
        try await list(Paths.registrations, pageSize: 250)
    }

    /// Compares one batch of registrations with Apple's records. If `repair` is set, also repairs the differences.
    package func syncRegistrations(_ request: SyncRequest) async throws(ClientError) -> Response<SyncDocument> {
        try await call(.POST, Paths.registrationSync, request)
    }

    /// Stores the domain verification file that Apple gave to the platform. All domains use the same file.
    package func setDomainFile(_ file: Data) async throws(ClientError) -> Response<DomainFileDocument> {
        try await httpClient.fetch(SocketCall(method: .PUT, path: Paths.domainFile, body: .file(file)))
    }

    /// The size, hash and time of the stored domain verification file, without its bytes.
    package func domainFile() async throws(ClientError) -> Response<DomainFileDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.domainFile))
    }

    /// The domain verification file, which a merchant's domain must serve unchanged.
    package func domainFileBytes() async throws(ClientError) -> Data {
        try await httpClient.send(SocketCall(path: Paths.wellKnownDomainFile, accept: "text/plain"))
    }

    /// Checks whether a domain serves the domain verification file as Apple requires.
    package func checkDomain(_ domain: DomainName) async throws(ClientError) -> Response<DomainCheckDocument> {
        try await call(.POST, Paths.domainChecks, DomainCheckRequest(domain))
    }

    /// Sends a request with a JSON body and the timeout ``appleTimeout``.
    private func call<Document: Decodable & Sendable>(
        _ method: HTTPMethod, _ path: String, _ body: some RequestBody, query: [(name: String, value: String)] = []
    ) async throws(ClientError) -> Response<Document> {
        try await httpClient.fetch(
            SocketCall(
                method: method, path: path, query: query, body: try .encoded(body),
                timeout: Self.appleTimeout))
    }
}
