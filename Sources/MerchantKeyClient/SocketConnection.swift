import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import WireAPI

/// HTTP/1.1 over one Unix socket, with kept connections. Must be shut down.
final class SocketConnection: Sendable {
    /// The largest answer that is read, in bytes.
    static let largestAnswer = 16 << 20
    let socketPath: String
    private let client: HTTPClient

    init(socketPath: String, connections: Int = 8) {
        self.socketPath = socketPath
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // How long an answer may take is each call's own.
            timeout: .init(connect: .seconds(5)),
            // Shorter than the daemon's own idle time, so that no request meets a connection that is just being closed.
            connectionPool: .init(
                idleTimeout: .seconds(5), concurrentHTTP1ConnectionsPerHostSoftLimit: connections))
        configuration.httpVersion = .http1Only
        // A socket that nobody listens on is to be told at once, not after ten seconds of trying.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    func shutdown() async {
        // The one error there is says that it was shut down before.
        try? await client.shutdown()
    }

    /// - Returns: the body of an answer that is no problem.
    func send(_ call: SocketCall) async throws(ClientError) -> Data {
        var request = HTTPClientRequest(url: "http+unix://\(PercentEncoding.encode(socketPath))\(call.uri)")
        request.method = call.method
        request.headers.add(name: "Host", value: "localhost")
        request.headers.add(name: "Accept", value: "\(call.accept), \(Problem.mediaType)")
        if let key = call.idempotencyKey { request.headers.add(name: "Idempotency-Key", value: key) }
        if let body = call.body {
            request.headers.add(name: "Content-Type", value: body.mediaType)
            request.body = .bytes(ByteBuffer(bytes: body.bytes))
        }
        let response: HTTPClientResponse
        let body: Data
        do {
            response = try await execute(request, timeout: call.patience)
            body = Data(try await response.body.collect(upTo: Self.largestAnswer).readableBytesView)
        } catch {
            throw failure(error)
        }
        let status = response.status.code
        if (200..<300).contains(status) || call.alsoAnswering.contains(status) { return body }
        let mediaType = response.headers.first(name: "Content-Type") ?? "no Content-Type"
        guard mediaType.lowercased().hasPrefix(Problem.mediaType),
            let problem = try? JSONDecoder().decode(Problem.self, from: body)
        else {
            throw .protocolViolation(
                "found status \(status) with \(mediaType), expected success or \(Problem.mediaType)")
        }
        throw .refused(Refusal(problem, retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) }))
    }

    /// How long a connection is tried for while the daemon's queue of connections is full, and the pauses between.
    private static let queueTime = Duration.seconds(10)
    private static let shortestPause = Duration.milliseconds(5)
    private static let longestPause = Duration.milliseconds(10)

    /// Tries again while the socket's queue of connections is full: EAGAIN from connect(2), so nothing was sent yet.
    private func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
        let deadline = ContinuousClock.now + Self.queueTime
        var pause = Self.shortestPause
        while true {
            do { return try await client.execute(request, timeout: timeout) } catch let error as IOError
                where error.errnoCode == EAGAIN && ContinuousClock.now < deadline
            {
                try await Task.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// - Returns: the answer's document, and its text.
    func fetch<Document: Decodable & Sendable>(_ call: SocketCall) async throws(ClientError) -> Answer<Document> {
        let json = try await send(call)
        do {
            return Answer(document: try JSONDecoder().decode(Document.self, from: json), json: json)
        } catch {
            throw .protocolViolation("found a body that is no \(Document.self), expected one")
        }
    }

    private func failure(_ error: any Error) -> ClientError {
        if error is NIOTooManyBytesError {
            return .protocolViolation("found an answer of more than \(Self.largestAnswer) bytes")
        }
        if error is HTTPParserError { return .protocolViolation("found bytes that are not HTTP") }
        return .unreachable(socketPath: socketPath, why: why(error))
    }

    private func why(_ error: any Error) -> String {
        switch error {
        case let error as IOError: Self.words(error)
        case is SocketAddressError: "the path has \(socketPath.utf8.count) bytes, expected at most 103"
        case let error as HTTPClientError:
            switch error {
            case .deadlineExceeded, .readTimeout, .connectTimeout: "no answer in time"
            case .remoteConnectionClosed:
                "the connection ended before the answer; what was asked may have been done"
            case .missingSocketPath: "the path is empty"
            default: error.description
            }
        default: "\(error)"
        }
    }

    private static func words(_ error: IOError) -> String {
        switch error.errnoCode {
        case ENOENT: "there is no such socket; is merchantkeyd running?"
        case ECONNREFUSED: "nobody listens on the socket; is merchantkeyd running?"
        case EAGAIN:
            "the daemon's queue of connections has been full for \(queueTime.components.seconds) seconds; something floods the socket: see the daemon's log"
        default: String(cString: strerror(error.errnoCode))
        }
    }
}
