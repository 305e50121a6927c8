import Foundation
import FoundationNetworking
import OutboundHTTP
import Synchronization

/// Passes the requests of a `URLSession` to an ``OutboundClient``.
///
/// Bodies of requests and responses are not streamed, and their size is limited. Every status is passed on as a
/// response: redirects are not followed, and no credentials are looked up for a 401. `timeoutInterval` limits the whole
/// request.
final class GatewayURLProtocol: URLProtocol {
    /// A header whose value is the key of the request's context in `contexts`. It is removed before the request is
    /// sent. The properties that `URLProtocol.setProperty` sets cannot be used: Foundation on Linux loses them when it
    /// copies a request.
    private static let contextField = "X-Merchantkeyd-Request-Context"
    private static let contexts = Mutex<[String: RequestContext]>([:])

    /// Calls `body` with a copy of the request. The copy has a header by which ``startLoading()`` finds `context`.
    static func with<Result>(
        _ context: RequestContext, _ request: URLRequest, _ body: (URLRequest) async throws -> Result
    ) async throws -> Result {
        let key = UUID().uuidString
        contexts.withLock { $0[key] = context }
        defer { contexts.withLock { $0[key] = nil } }
        var marked = request
        marked.setValue(key, forHTTPHeaderField: contextField)
        return try await body(marked)
    }

    /// True for every request. Otherwise Foundation would send a request with libcurl, without the configured trust
    /// roots and the identity.
    override static func canInit(with request: URLRequest) -> Bool { true }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let reporter = Reporter(self)
        guard let context = Self.context(of: request) else {
            return reporter.fail(.unreachable(.other("the request has no context")))
        }
        do throws(OutboundFailure) {
            let outbound = try OutboundRequest(
                request, without: Self.contextField, limit: context.client.configuration.largestRequest)
            let call = try context.client.start(
                outbound, identity: context.identity, within: .seconds(request.timeoutInterval))
            context.started(call)
            call.whenComplete { result in
                switch result {
                case .success(let response): reporter.finish(response)
                case .failure(let failure): reporter.fail(failure)
                }
            }
        } catch { reporter.fail(error) }
    }

    /// Required by URLProtocol. Foundation calls this when a task is cancelled, which does not happen here: see
    /// ``RequestContext``.
    override func stopLoading() { Self.context(of: request)?.cancel() }

    private static func context(of request: URLRequest) -> RequestContext? {
        request.value(forHTTPHeaderField: contextField).flatMap { key in contexts.withLock { $0[key] } }
    }
}

extension OutboundRequest {
    /// - Parameters:
    ///   - field: the name of a header that is left out.
    ///   - limit: the limit of the body, in bytes.
    fileprivate init(_ request: URLRequest, without field: String, limit: Int) throws(OutboundFailure) {
        guard let url = request.url else { throw .unreachable(.other("the request has no URL")) }
        let headers = (request.allHTTPHeaderFields ?? [:]).filter { $0.key.lowercased() != field.lowercased() }
        self.init(
            url: url, method: request.httpMethod ?? "GET",
            headers: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            body: try Self.body(of: request, limit: limit))
    }

    private static func body(of request: URLRequest, limit: Int) throws(OutboundFailure) -> [UInt8]? {
        if let body = request.httpBody { return Array(body) }
        guard let stream = request.httpBodyStream else { return nil }
        stream.open()
        defer { stream.close() }
        var body: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = stream.read(&chunk, maxLength: chunk.count)
            guard count >= 0 else { throw .unreachable(.other("the request's body cannot be read")) }
            if count == 0 { return body }
            body += chunk[..<count]
            guard body.count <= limit else { throw .requestTooLarge(limit: limit) }
        }
    }
}

/// Reports the end of a request to its session.
///
/// Proof for @unchecked Sendable: only the one call that ends the request uses `source`, once and on one thread. The
/// methods of `source.client` may be called on any thread.
private final class Reporter: @unchecked Sendable {
    private let source: URLProtocol

    init(_ source: URLProtocol) { self.source = source }

    func finish(_ received: OutboundResponse) {
        guard let url = source.request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: received.status, httpVersion: "HTTP/1.1",
                headerFields: Self.fields(received.headers))
        else { return fail(.notHTTP("the response cannot be represented")) }
        source.client?.urlProtocol(source, didReceive: response, cacheStoragePolicy: .notAllowed)
        // Pass the whole body in one call. After several calls, Foundation's completion handler may get only the last
        // piece.
        source.client?.urlProtocol(source, didLoad: Data(received.body))
        source.client?.urlProtocolDidFinishLoading(source)
    }

    func fail(_ failure: OutboundFailure) { source.client?.urlProtocol(source, didFailWithError: failure) }

    private static func fields(_ headers: [(name: String, value: String)]) -> [String: String] {
        var fields: [String: String] = [:]
        // If the response had WWW-Authenticate, the session would look for a password, find none, and not deliver the
        // response with status 401.
        for (name, value) in headers where name.lowercased() != "www-authenticate" {
            fields[name] = fields[name].map { "\($0), \(value)" } ?? value
        }
        return fields
    }
}
