import Glibc

/// A client that sends exact bytes and reads responses one by one. Blocks its thread.
final class SocketClient {
    struct Failed: Error {
        let what: String
    }

    /// A response as received.
    struct Reply {
        let status: Int
        /// Names in lower case.
        let fields: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: CInt
    private var received: [UInt8] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            throw Failed(what: "connect: \(String(cString: strerror(errno)))")
        }
        // A timeout, so that a test fails instead of waiting without end.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// - Returns: false if the server no longer reads.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends as long as the server reads, at most for the given time.
    ///
    /// - Returns: the number of bytes sent.
    func sendWithoutWaiting(_ text: String, until patience: Duration) -> Int {
        let bytes = Array(text.utf8)
        let end = ContinuousClock.now + patience
        var sent = 0
        while sent < bytes.count, ContinuousClock.now < end {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count > 0 { sent += count } else { usleep(1000) }
        }
        return sent
    }

    /// Closes the sending side.
    func finishSending() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// - Returns: false at the end of the connection.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw Failed(what: "receive: \(String(cString: strerror(errno)))") }
        received += buffer[..<count]
        return count > 0
    }

    /// - Returns: nil if the connection ended before the next response.
    func reply(toHead isHead: Bool = false) throws -> Reply? {
        var end = headEnd
        while end == nil {
            guard try receive() else {
                guard received.isEmpty else { throw Failed(what: "the end within a head") }
                return nil
            }
            end = headEnd
        }
        guard let end else { return nil }
        let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let halves = line.split(separator: ":", maxSplits: 1)
            fields[halves[0].lowercased()] = String(halves[1].drop(while: { $0 == " " }))
        }
        guard let status = Int(lines[0].split(separator: " ")[1]) else { throw Failed(what: "no status") }
        received.removeFirst(end + 4)
        let length = isHead ? 0 : Int(fields["content-length"] ?? "0") ?? 0
        while received.count < length {
            guard try receive() else { throw Failed(what: "the end within a body") }
        }
        defer { received.removeFirst(length) }
        return Reply(status: status, fields: fields, body: Array(received[..<length]))
    }

    private var headEnd: Int? {
        let mark = Array("\r\n\r\n".utf8)
        return received.indices.first { received[$0...].starts(with: mark) }
    }

    /// Sends one request and reads its response.
    func ask(_ method: String, _ target: String, _ body: String? = nil, fields: String = "") throws -> Reply {
        send(Self.request(method, target, body, fields: fields))
        guard let reply = try reply(toHead: method == "HEAD") else { throw Failed(what: "no answer") }
        return reply
    }

    static func request(_ method: String, _ target: String, _ body: String? = nil, fields: String = "") -> String {
        let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        return "\(method) \(target) HTTP/1.1\r\nHost: decryptor\r\n\(fields)\(length)\r\n\(body ?? "")"
    }
}
