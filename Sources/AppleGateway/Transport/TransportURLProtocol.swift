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
    /// What a request needs beyond itself, carried as its property.
    final class Carriage: Sendable {
        let transport: SecureTransport
        let tls: TLSConfiguration

        init(transport: SecureTransport, tls: TLSConfiguration) {
            self.transport = transport
            self.tls = tls
        }
    }

    private static let carriageKey = "merchantkeyd.carriage"

    private let running = Mutex<HTTPClient.Task<TransportAnswer>?>(nil)

    /// - Returns: the request, marked to be carried by this protocol.
    static func request(_ request: URLRequest, on carriage: Carriage) -> URLRequest? {
        guard let marked = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return nil }
        setProperty(carriage, forKey: carriageKey, in: marked)
        return marked as URLRequest
    }

    override static func canInit(with request: URLRequest) -> Bool { carriage(of: request) != nil }

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
        running.withLock { $0 = task }
        task.futureResult.whenComplete { result in
            switch result {
            case .success(let answer): delivery.finish(answer)
            case .failure(let error):
                delivery.fail(TransportFailure(error, didSend: exchange.didSend, seconds: seconds))
            }
        }
    }

    /// Called when the task was cancelled too; the session tells its caller then, so that nothing more is delivered.
    override func stopLoading() { running.withLock { $0.take() }?.cancel() }

    private static func carriage(of request: URLRequest) -> Carriage? {
        property(forKey: carriageKey, in: request) as? Carriage
    }

    private static func carried(
        _ request: URLRequest, tls: TLSConfiguration, limit: Int
    ) throws -> HTTPClient.Request {
        guard let url = request.url else { throw TransportFailure.unreachable("the request has no URL") }
        let body = try body(of: request, limit: limit)
        let headers = HTTPHeaders((request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key })
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
/// Proof for @unchecked Sendable: the protocol is touched by the one thread that ends its exchange, and its client's calls are
/// made to come from any thread. What ends twice (an answer while the task is being cancelled) is told once by the session.
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
