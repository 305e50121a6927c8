import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import WireAPI

/// Sends HTTP/1.1 requests over a Unix socket, and keeps connections open between requests. Call ``shutdown()`` when
/// done.
final class SocketHTTPClient: Sendable {
    /// The largest response that the client reads, in bytes.
    static let largestResponse = 16 << 20
    let socketPath: String
    private let client: HTTPClient

    init(socketPath: String, connections: Int = 8) {
        self.socketPath = socketPath
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // Each call has its own timeout for the response.
            timeout: .init(connect: .seconds(5)),
            // Shorter than the daemon's idle timeout of 60 s, so that no request uses a connection that the daemon is
            // closing.
            connectionPool: .init(
                idleTimeout: .seconds(5), concurrentHTTP1ConnectionsPerHostSoftLimit: connections))
        configuration.httpVersion = .http1Only
        // With retries, the client would need ten seconds to report that no process listens on the socket.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    func shutdown() async {
        // This throws only if the client was already shut down.
        try? await client.shutdown()
    }

    /// Sends one request.
    ///
    /// - Returns: the body of the response, if its status is 200 to 299 or one of the call's `documentStatuses`.
    /// - Throws: ``ClientError/refused(_:)`` if the response is a problem document; other cases of ``ClientError`` if
    ///   there is no usable response.
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
        do { (response, body) = try await execute(request, within: call.timeout) } catch { throw failure(error) }
        let status = response.status.code
        if (200..<300).contains(status) || call.documentStatuses.contains(status) { return body }
        let mediaType = response.headers.first(name: "Content-Type") ?? "no Content-Type"
        guard mediaType.lowercased().hasPrefix(Problem.mediaType),
            let problem = try? JSONDecoder().decode(Problem.self, from: body)
        else {
            throw .protocolViolation(
                "the status is \(status), but the body is not a problem document (\(mediaType))")
        }
        throw .refused(Refusal(problem, retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) }))
    }

    /// How long ``execute(_:timeout:)`` retries a request while the daemon's connection queue is full. The delay before
    /// a retry grows from `shortestDelay` to `longestDelay`.
    private static let retryTimeout = Duration.seconds(10)
    private static let shortestDelay = Duration.milliseconds(5)
    private static let longestDelay = Duration.milliseconds(10)

    /// Executes a request, with all retries, and receives the whole body.
    ///
    /// - Throws: `HTTPClientError.deadlineExceeded` after `timeout`; `NIOTooManyBytesError` if the body is larger than
    ///   ``largestResponse``.
    private func execute(
        _ request: HTTPClientRequest, within timeout: TimeAmount
    ) async throws -> (HTTPClientResponse, Data) {
        try await withThrowingTaskGroup(of: (HTTPClientResponse, Data).self) { group in
            group.addTask {
                let response = try await self.execute(request, timeout: timeout)
                return (response, Data(try await response.body.collect(upTo: Self.largestResponse).readableBytesView))
            }
            group.addTask {
                try await Task.sleep(for: .nanoseconds(timeout.nanoseconds))
                throw HTTPClientError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// Executes a request, and retries while the socket's connection queue is full: connect(2) then fails with EAGAIN.
    /// A retry is safe, because nothing was sent.
    private func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
        let deadline = ContinuousClock.now + Self.retryTimeout
        var delay = Self.shortestDelay
        while true {
            do { return try await client.execute(request, timeout: timeout) } catch let error as IOError
                where error.errnoCode == EAGAIN && ContinuousClock.now < deadline
            {
                try await Task.sleep(for: delay)
                delay = min(delay * 2, Self.longestDelay)
            }
        }
    }

    /// Sends one request whose response is a JSON document.
    func fetch<Document: Decodable & Sendable>(_ call: SocketCall) async throws(ClientError) -> Response<Document> {
        let json = try await send(call)
        do {
            return Response(document: try JSONDecoder().decode(Document.self, from: json), json: json)
        } catch {
            throw .protocolViolation(
                "the body can't be decoded as \(Document.self); is \(socketPath) the right socket of a daemon of this version?"
            )
        }
    }

    private func failure(_ error: any Error) -> ClientError {
        if error is NIOTooManyBytesError {
            return .protocolViolation("the response has more than \(Self.largestResponse) bytes")
        }
        if error is HTTPParserError { return .protocolViolation("the response is not HTTP") }
        if let error = error as? IOError, [EACCES, EPERM].contains(error.errnoCode) {
            return .notPermitted(socketPath: socketPath, why: permissionText)
        }
        return .unreachable(socketPath: socketPath, why: reason(for: error))
    }

    private func reason(for error: any Error) -> String {
        switch error {
        case let error as IOError: Self.description(of: error)
        case is SocketAddressError:
            "the path has \(socketPath.utf8.count) bytes, but a socket's path can have at most 103"
        case let error as HTTPClientError:
            switch error {
            case .deadlineExceeded, .readTimeout, .connectTimeout: "the call timed out"
            case .remoteConnectionClosed:
                "the connection ended before the response; the daemon may have executed the request"
            case .missingSocketPath: "the path is empty"
            default: error.description
            }
        default: "\(error)"
        }
    }

    private static func description(of error: IOError) -> String {
        switch error.errnoCode {
        case ENOENT: "there is no such socket; is merchantkeyd running?"
        case ECONNREFUSED: "no process listens on the socket; is merchantkeyd running?"
        case EAGAIN:
            "the daemon's connection queue has been full for \(retryTimeout.components.seconds) seconds; see the daemon's log for the process that floods the socket"
        default: String(cString: strerror(error.errnoCode))
        }
    }

    /// Why this process may not connect, and what to do.
    private var permissionText: String {
        let user = "the user id \(geteuid())"
        let directory = socketPath.lastIndex(of: "/").map { String(socketPath[..<$0]) } ?? "."
        guard access(directory.isEmpty ? "/" : directory, X_OK) == 0 else {
            return
                "\(user) may not enter the directory of the socket; use root or the daemon's user, or move the socket into a directory that this user may enter (settings 'sockets.admin.path' and 'sockets.decryptor.path')"
        }
        return
            "\(user) may not open the socket; use root or the daemon's user, or add this user to the setting 'callers', which also opens the socket to other users"
    }
}
