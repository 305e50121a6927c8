import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Carries the requests of a `URLSession` over async-http-client: on Linux `URLSession` itself knows neither client
/// certificates nor a choice of trust roots.
///
/// Bodies are whole and bounded both ways. A redirect, a 401 and any other status are answers like the rest: nothing is
/// followed and no credentials are looked for. `timeoutInterval` bounds the whole exchange.
final class TransportURLProtocol: URLProtocol {
    /// Names a request's carriage; never leaves the process. (Foundation on Linux loses the properties that a URLProtocol may
    /// set on a request, when it copies the request.)
    private static let ticketField = "X-Merchantkeyd-Carriage"
    private static let carriages = Mutex<[String: Carriage]>([:])

    /// Lets `body` send a request that is carried as said.
    static func carrying<Result>(
        _ request: URLRequest, on carriage: Carriage, _ body: (URLRequest) async throws -> Result
    ) async throws -> Result {
        let ticket = UUID().uuidString
        carriages.withLock { $0[ticket] = carriage }
        defer { carriages.withLock { $0[ticket] = nil } }
        var ticketed = request
        ticketed.setValue(ticket, forHTTPHeaderField: ticketField)
        return try await body(ticketed)
    }

    /// Every request of a session that has this protocol, so that none ever falls through to libcurl, which would send it
    /// without our roots and identity.
    override static func canInit(with request: URLRequest) -> Bool { true }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let delivery = Delivery(self)
        guard let carriage = Self.carriage(of: request) else {
            return delivery.fail(.unreachable("the request names no transport"))
        }
        let transport = carriage.transport
        let seconds = Int(request.timeoutInterval.rounded(.up))
        let carried: HTTPClient.Request
        do {
            carried = try Self.carried(request, tls: carriage.tls, limit: transport.limits.request)
        } catch let failure as TransportFailure {
            return delivery.fail(failure)
        } catch {
            return delivery.fail(.unreachable("the request cannot be sent: \(error)"))
        }
        let exchange = Exchange(limit: transport.limits.answer)
        let task = transport.client.execute(
            request: carried, delegate: exchange,
            deadline: .now() + .milliseconds(Int64(request.timeoutInterval * 1000)))
        carriage.began(task)
        task.futureResult.whenComplete { result in
            switch result {
            case .success(let answer): delivery.finish(answer)
            case .failure(let error):
                delivery.fail(TransportFailure(error, didSend: exchange.didSend, seconds: seconds))
            }
        }
    }

    /// Called for a session's task that is cancelled, which none of ours ever is: see ``Carriage``.
    override func stopLoading() { Self.carriage(of: request)?.cancel() }

    private static func carriage(of request: URLRequest) -> Carriage? {
        request.value(forHTTPHeaderField: ticketField).flatMap { ticket in carriages.withLock { $0[ticket] } }
    }

    private static func carried(
        _ request: URLRequest, tls: TLSConfiguration, limit: Int
    ) throws -> HTTPClient.Request {
        guard let url = request.url else { throw TransportFailure.unreachable("the request has no URL") }
        let body = try body(of: request, limit: limit)
        var headers = HTTPHeaders((request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key })
        headers.remove(name: ticketField)
        return try HTTPClient.Request(
            url: url, method: HTTPMethod(rawValue: request.httpMethod ?? "GET"), headers: headers,
            body: body.map { .data($0) }, tlsConfiguration: tls)
    }

    private static func body(of request: URLRequest, limit: Int) throws(TransportFailure) -> Data? {
        if let body = request.httpBody {
            guard body.count <= limit else { throw .requestTooLarge(limit: limit) }
            return body
        }
        guard let stream = request.httpBodyStream else { return nil }
        stream.open()
        defer { stream.close() }
        var body = Data()
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = stream.read(&chunk, maxLength: chunk.count)
            guard count >= 0 else { throw .unreachable("the request's body cannot be read") }
            if count == 0 { return body }
            body.append(contentsOf: chunk[..<count])
            guard body.count <= limit else { throw .requestTooLarge(limit: limit) }
        }
    }
}

/// Tells the session's side how an exchange ended, once.
///
/// Proof for @unchecked Sendable: the protocol is touched only by the one call that ends its exchange, made once and by one
/// thread, and its client's calls may come from any thread.
private final class Delivery: @unchecked Sendable {
    private let source: URLProtocol

    init(_ source: URLProtocol) { self.source = source }

    func finish(_ answer: TransportAnswer) {
        guard let url = source.request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: Self.fields(answer.headers))
        else { return fail(.notHTTP("its answer cannot be represented")) }
        source.client?.urlProtocol(source, didReceive: response, cacheStoragePolicy: .notAllowed)
        // Once, and whole: Foundation's completion handlers have known only the last piece of several.
        source.client?.urlProtocol(source, didLoad: Data(answer.body.readableBytesView))
        source.client?.urlProtocolDidFinishLoading(source)
    }

    func fail(_ failure: TransportFailure) { source.client?.urlProtocol(source, didFailWithError: failure) }

    private static func fields(_ headers: HTTPHeaders) -> [String: String] {
        var fields: [String: String] = [:]
        // WWW-Authenticate would make the session look for a password, which there is not, instead of answering 401.
        for (name, value) in headers where name.lowercased() != "www-authenticate" {
            fields[name] = fields[name].map { "\($0), \(value)" } ?? value
        }
        return fields
    }
}
