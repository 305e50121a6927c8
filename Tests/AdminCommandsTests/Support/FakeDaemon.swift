import Foundation
import Glibc
import Synchronization

/// A fake daemon on a real Unix socket: answers each request with a closure, and records the request.
final class FakeDaemon: Sendable {
    struct Request: Sendable {
        let method: String
        /// Path and query, as on the request line.
        let target: String
        /// The header fields, with names in lower case.
        let headers: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct Reply: Sendable {
        var status = 200
        var mediaType = "application/json"
        /// The value of `Retry-After`, in seconds.
        var retryAfter: Int?
        /// Whether the connection ends without a response.
        var isLost = false
        let body: [UInt8]

        static func json(_ document: some Encodable, status: Int = 200) throws -> Reply {
            Reply(status: status, body: Array(try JSONEncoder().encode(document)))
        }

        static func text(_ text: String, _ mediaType: String = "application/json") -> Reply {
            Reply(mediaType: mediaType, body: Array(text.utf8))
        }

        static func problem(_ status: Int, _ code: String, _ detail: String) -> Reply {
            Reply(
                status: status, mediaType: "application/problem+json",
                body: Array(
                    """
                    {"type":"urn:merchantkeyd:problem:\(code)","title":"No","status":\(status),"detail":"\(detail)",\
                    "code":"\(code)","requestId":"r-1"}
                    """.utf8))
        }
    }

    let socketPath: String
    private let listener: Int32
    private let ended = DispatchSemaphore(value: 0)
    private let isStopped = Mutex(false)
    private let seen = Mutex<[Request]>([])

    var requests: [Request] { seen.withLock { $0 } }

    /// - Parameter name: the name of the socket's file.
    init(
        in directory: String, named name: String = "admin.sock", _ answer: @escaping @Sendable (Request) throws -> Reply
    ) throws {
        socketPath = "\(directory)/\(name)"
        listener = try Self.listen(at: socketPath)
        let listener = listener
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                serve(connection, answer)
                close(connection)
            }
            ended.signal()
        }
    }

    /// Ends the thread; no request is answered any more. A second call does nothing.
    func stop() {
        let wasStopped = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        // Otherwise the thread could accept a connection to another test's socket that gets the same descriptor.
        ended.wait()
        close(listener)
        unlink(socketPath)
    }

    private func serve(_ connection: Int32, _ answer: (Request) throws -> Reply) {
        guard let request = Self.read(connection) else { return }
        seen.withLock { $0.append(request) }
        let reply: Reply
        do { reply = try answer(request) } catch { reply = .problem(500, "internalError", "the test's closure threw") }
        guard !reply.isLost else { return }
        var bytes = Array(
            """
            HTTP/1.1 \(reply.status) Status\r
            Content-Type: \(reply.mediaType)\r
            Content-Length: \(reply.body.count)\r\(reply.retryAfter.map { "\nRetry-After: \($0)\r" } ?? "")
            Connection: close\r
            \r

            """.utf8)
        bytes += reply.body
        while !bytes.isEmpty {
            let written = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            guard written > 0 else { return }
            bytes.removeFirst(written)
        }
    }

    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let words = lines[0].split(separator: " ")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    headers[line[..<colon].lowercased()] =
                        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                }
                let body = bytes[end.upperBound...]
                if words.count == 3, body.count >= Int(headers["content-length"] ?? "0") ?? 0 {
                    return Request(
                        method: String(words[0]), target: String(words[1]), headers: headers, body: Array(body))
                }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    private static func listen(at path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, Glibc.listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
        return descriptor
    }
}

extension FakeDaemon {
    /// Runs `body` with the program, and with a daemon on ``socketPath`` in the program's directory.
    static func with(
        _ answer: @escaping @Sendable (Request) throws -> Reply, _ body: (Program, FakeDaemon) async throws -> Void
    ) async throws {
        let program = try Program()
        defer { program.remove() }
        let daemon = try FakeDaemon(in: program.directory, answer)
        defer { daemon.stop() }
        try await body(program, daemon)
    }
}
