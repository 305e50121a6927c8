import HTTPTypes
import Hummingbird
import MerchantCore
import NIOCore
import RESTKit
import ServerKit
import Testing
import Vocabulary

@Suite struct RESTRouterTests {
    /// A caller with the permit for one merchant.
    private static let caller = Sample.peer([.onboard], for: [Sample.merchant])

    /// The server's response to `GET /v1/keys/{publicKeyHash}`.
    ///
    /// - Parameter peer: the caller that the connection identifies.
    private func response<Handlers: SampleHandlers>(
        from handlers: Handlers, for key: PublicKeyHash, to peer: Peer, authenticate: RequestAuthentication? = nil
    ) async throws -> Response {
        let route: RESTRoute<Handlers> = .reads("/v1/keys/{publicKeyHash}", Handlers.getKey)
        let responder = RESTRouter(
            routes: [route], handlers: handlers, reporter: Sample.reporter(for: [("GET", route.path)]),
            authenticate: authenticate, headers: [.strictTransportSecurity: "max-age=1"], logger: Sample.logger
        ).buildResponder()
        let head = HTTPRequest(method: .get, scheme: "https", authority: "x", path: "/v1/keys/\(key.base64URL)")
        return try await responder.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: Sample.context(peer))
    }

    @Test func `a server responds to a request for another merchant's key as its handlers choose`() async throws {
        #expect(try await response(from: OpenHandlers(), for: Sample.key, to: Self.caller).status == .ok)
        #expect(try await response(from: OpenHandlers(), for: Sample.otherKey, to: Self.caller).status == .forbidden)
        #expect(try await response(from: OpenHandlers(), for: Sample.unknownKey, to: Self.caller).status == .notFound)
        #expect(try await response(from: HidingHandlers(), for: Sample.key, to: Self.caller).status == .ok)
        for key in [Sample.otherKey, Sample.unknownKey] {
            #expect(try await response(from: HidingHandlers(), for: key, to: Self.caller).status == .notFound)
        }
    }

    @Test func `a server that authenticates each request uses the permits of the authenticated caller`() async throws {
        let unidentified = Sample.peer([])
        let refused = try await response(from: OpenHandlers(), for: Sample.key, to: unidentified)
        #expect(refused.status == .forbidden && refused.headers[.connection] == "close")
        let found = try await response(from: OpenHandlers(), for: Sample.key, to: unidentified) { _, permit, _ in
            #expect(permit == .onboard)
            return Self.caller
        }
        #expect(found.status == .ok)
    }

    @Test func `an error can have header fields, and each response has the server's fields`() async throws {
        let refused = try await response(from: OpenHandlers(), for: Sample.key, to: Sample.peer([])) { _, _, _ in
            throw ErrorWithHeaders(
                MerchantError(.tooManyRequests, "too many requests", retryAfter: 7),
                headers: [.wwwAuthenticate: "Bearer"])
        }
        #expect(refused.status.code == 429)
        #expect(refused.headers[.wwwAuthenticate] == "Bearer" && refused.headers[.retryAfter] == "7")
        #expect(refused.headers[.strictTransportSecurity] == "max-age=1")
        #expect(refused.headers[.cacheControl] == "no-store" && refused.headers[.connection] == nil)
    }
}
