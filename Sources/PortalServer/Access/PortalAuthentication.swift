import HTTPKit
import HTTPTypes
import Hummingbird
import LocalSocket
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

/// Identifies the caller of each request to the portal: a machine by its access token or client certificate, or a
/// person by the cookie of a session. Also limits how often each address and each caller may send requests.
struct PortalAuthentication: Sendable {
    /// Who sent a request.
    struct Identity: Sendable {
        let peer: Peer
        /// nil unless the request has the cookie of a valid session.
        let session: ResumedSession?
    }

    let accesses: AccessAuthentication
    let sessions: PortalSessionOperations
    let policy: CurrentValue<CallerPolicy>
    let rates: RequestRates
    let refusals: RefusalLog

    /// The caller of a request for data.
    ///
    /// - Parameter isOpen: whether the route needs no permit. A request without credentials is then permitted.
    /// - Throws: `unauthorized` with `WWW-Authenticate`, which is the same for missing and for wrong credentials of
    ///   every kind; `tooManyRequests` with `Retry-After`; `forbidden` if the caller is identified by the cookie of a
    ///   session and the method is not GET or HEAD, because another site could make a browser send the cookie.
    func caller(of request: Hummingbird.Request, in context: RESTContext, isOpen: Bool) async throws -> Peer {
        let address = Self.address(of: context)
        // Health requests are not counted, because a load balancer sends many of them.
        if !(isOpen && request.uri.path == Paths.health) { try admit(address) }
        if let token = Self.bearerToken(request.headers) {
            guard let access = try await accesses.authenticate(token: token) else { throw try refuse(address) }
            return try peer(of: access, at: address)
        }
        if let fingerprint = context.connection.clientCertificateFingerprint,
            let access = try await accesses.authenticate(certificateFingerprint: fingerprint)
        {
            return try peer(of: access, at: address)
        }
        if request.headers[.authorization] != nil { throw try refuse(address) }
        // A request for data with the cookie of a session comes from the script of a page. The script repeats its
        // requests even while nobody uses the page, so they do not extend the session.
        if let identity = try await session(of: request, at: address, extending: false) {
            try countRequest(of: identity)
            guard request.method == .get || request.method == .head else {
                identity.peer.recordRefusal(.onboard)
                throw MerchantError(
                    .forbidden, "a session may only read data: make changes on the pages, or send an access token")
            }
            return identity.peer
        }
        guard isOpen else { throw Self.unauthorized }
        return context.connection.peer
    }

    /// The caller of a request for a page. For a request without a valid session, this is a peer without any permit.
    /// Counts the request towards the limit of the address. ``countRequest(of:)`` counts it towards the limit of the
    /// session.
    ///
    /// - Throws: `tooManyRequests`.
    func visitor(of request: Hummingbird.Request, in context: RESTContext) async throws -> Identity {
        let address = Self.address(of: context)
        try admit(address)
        return try await session(of: request, at: address, extending: FetchMetadata.isSentByPerson(request.headers))
            ?? Identity(peer: context.connection.peer, session: nil)
    }

    /// Counts a request towards the limit of the session.
    ///
    /// - Throws: `tooManyRequests` if the session has sent too many requests.
    func countRequest(of identity: Identity) throws(MerchantError) {
        if let session = identity.session { try count(caller: "session:\(session.identifier)") }
    }

    /// The error with which the server answers a request that violates a rule of HTTP. Such a request reaches no route,
    /// so it is counted here. A request through a trusted proxy is not counted, because the address of its client is
    /// not known.
    ///
    /// - Returns: `tooManyRequests` if the address has sent too many requests; otherwise the fault.
    func error(for fault: HTTPFault, on connection: PortalConnection) -> any Error {
        guard let address = connection.directAddress else { return fault }
        do throws(MerchantError) { try admit(address) } catch { return error }
        return fault
    }

    /// Counts a failed attempt to sign in, so that one address cannot try many secrets.
    ///
    /// - Throws: `tooManyRequests` if the address has had too many failed attempts.
    func countFailure(in context: RESTContext) throws(MerchantError) {
        try countFailure(of: Self.address(of: context))
    }

    /// Waits before a refusal with 429 is sent, if the address has already received many such refusals.
    func delayRefusal(for address: RemoteAddress) async {
        guard let delay = rates.delay(ofRefusalFor: address) else { return }
        // Throws only if the request was cancelled. The refusal is then sent at once.
        try? await Task.sleep(for: delay)
    }

    /// A client whose credentials are not checked yet.
    func unidentified(at address: RemoteAddress) -> Peer {
        Peer(
            caller: .remote(.unidentified(address: address.description)), grants: [], holder: address.block.holder,
            refusals: refusals)
    }

    /// The address of the client, even if it connects through a trusted proxy. ``unidentified(at:)`` has stored the
    /// address in the connection.
    private static func address(of context: RESTContext) -> RemoteAddress {
        guard let address = context.connection.peer.caller.remote.flatMap({ RemoteAddress($0.address) }) else {
            preconditionFailure("every connection to the portal begins with an unidentified client")
        }
        return address
    }

    // MARK: Kinds of callers

    private func peer(of access: AuthenticatedAccess, at address: RemoteAddress) throws(MerchantError) -> Peer {
        try count(caller: "access:\(access.name)")
        return peer(.access(access.name, address: address.description), [access.grant])
    }

    /// - Parameter extending: whether the request extends the session.
    private func session(
        of request: Hummingbird.Request, at address: RemoteAddress, extending: Bool
    ) async throws -> Identity? {
        guard let cookie = SessionCookie.secret(in: request.headers),
            let session = try await sessions.resume(cookie, extending: extending)
        else { return nil }
        let grants: [Grant] =
            switch session.holder {
            case .invitation(_, let merchant): [Grant(permits: [.onboard], merchants: [merchant])]
            case .operating(let uid, let groups):
                policy.value.grants(uid: uid, groups: groups).map {
                    Grant(permits: $0.permits.intersection(PortalPermits.permitted), merchants: $0.merchants)
                }
            }
        return Identity(peer: peer(session.caller(from: address.description), grants), session: session)
    }

    private func peer(_ caller: RemoteCaller, _ grants: [Grant]) -> Peer {
        Peer(caller: .remote(caller), grants: grants, holder: .remote(caller.name), refusals: refusals)
    }

    // MARK: Limits

    private func admit(_ address: RemoteAddress) throws(MerchantError) {
        if let seconds = rates.count(address: address) { throw Self.tooMany(seconds) }
    }

    /// Counts wrong credentials. Above the limit, further wrong credentials from the address get 429. Correct
    /// credentials are still accepted: other clients may share the address, and a secret cannot be guessed.
    private func countFailure(of address: RemoteAddress) throws(MerchantError) {
        if let seconds = rates.waitAfterFailedAuthentications(of: address) { throw Self.tooMany(seconds) }
        rates.countFailedAuthentication(of: address)
    }

    private func count(caller: String) throws(MerchantError) {
        if let seconds = rates.count(caller: caller) { throw Self.tooMany(seconds) }
    }

    private static func tooMany(_ seconds: Int) -> MerchantError {
        MerchantError(
            .tooManyRequests, "too many requests: send the next one in \(seconds.counted("second"))",
            retryAfter: seconds)
    }

    // MARK: Refusals

    private func refuse(_ address: RemoteAddress) throws(MerchantError) -> any Error {
        try countFailure(of: address)
        return Self.unauthorized
    }

    private static let unauthorized = ErrorWithHeaders(
        MerchantError(
            .unauthorized,
            "the request has no valid credentials: send 'Authorization: Bearer' with an access token, or use a client certificate that was given access"
        ), headers: [.wwwAuthenticate: "Bearer realm=\"merchantkeyd\""])

    /// The token of `Authorization: Bearer TOKEN`, RFC 6750 section 2.1.
    private static func bearerToken(_ headers: HTTPFields) -> String? {
        let values = headers[values: .authorization]
        guard values.count == 1 else { return nil }
        let parts = values[0].split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}
