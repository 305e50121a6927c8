import Foundation
import Glibc

/// A blocking client on one persistent connection to a Unix socket, fast enough to put a daemon under load.
final class LoadClient {
    /// The connection failed, or ended before a complete response.
    struct ConnectionLost: Error {}

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw ConnectionLost() }
    }

    deinit { close(descriptor) }

    /// - Throws: ``ConnectionLost`` if no complete response arrives.
    func call(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> (status: Int, body: Data) {
        var request = Array(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
        request += body
        while !request.isEmpty {
            let sent = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
            guard sent > 0 else { throw ConnectionLost() }
            request.removeFirst(sent)
        }
        let end = Array("\r\n\r\n".utf8)
        var headEnd: Int?
        while headEnd == nil {
            headEnd = buffer.firstRange(of: end)?.upperBound
            if headEnd == nil { try receive() }
        }
        let head = String(decoding: buffer[..<(headEnd ?? 0)], as: UTF8.self).lowercased()
        let words = head.split(separator: " ")
        guard let headEnd, words.count > 1, let status = Int(words[1]) else { throw ConnectionLost() }
        let lengthLine = head.components(separatedBy: "\r\n").first { $0.hasPrefix("content-length:") }
        let length = lengthLine.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        while buffer.count < headEnd + length { try receive() }
        let body = Data(buffer[headEnd..<headEnd + length])
        buffer.removeFirst(headEnd + length)
        return (status, body)
    }

    /// Sends a request.
    ///
    /// - Returns: the status and the JSON object of the response; an empty object if the body is no JSON object.
    func object(_ method: String, _ path: String, _ body: [UInt8] = []) throws -> (Int, [String: Any]) {
        let (status, data) = try call(method, path, body)
        return (status, (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:])
    }

    private func receive() throws {
        var part = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &part, part.count, 0)
        guard count > 0 else { throw ConnectionLost() }
        buffer += part[..<count]
    }
}
