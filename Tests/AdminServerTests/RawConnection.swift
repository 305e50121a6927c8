import Foundation
import Glibc

/// A connection that can send bytes that no HTTP client sends.
enum RawConnection {
    /// Sends the bytes on a thread of its own, and returns all that the server sends until the connection ends.
    ///
    /// - Parameter keepsSending: whether the sending side stays open, so that the server has to end the connection.
    static func exchange(_ bytes: Data, with socket: String, keepsSending: Bool = false) async -> Data {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: exchangeNow(bytes, with: socket, keepsSending: keepsSending))
            }
        }
    }

    static func exchange(_ text: String, with socket: String, keepsSending: Bool = false) async -> String {
        String(
            decoding: await exchange(Data(text.utf8), with: socket, keepsSending: keepsSending), as: UTF8.self)
    }

    /// - Returns: a connected socket, which the caller must close; nil where no process listens.
    static func open(_ path: String) -> CInt? {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// - Returns: whether the server took all bytes.
    static func send(_ bytes: Data, to descriptor: CInt) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Receives until what arrived is complete, the connection ends, or nothing arrived for 20 s.
    static func receive(from descriptor: CInt, until isComplete: (Data) -> Bool = { _ in false }) -> Data {
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isComplete(received) {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EAGAIN { return received + Data("the connection did not end in 20 s".utf8) }
            // A connection that is reset has ended.
            guard count > 0 else { break }
            received.append(contentsOf: buffer[..<count])
        }
        return received
    }

    private static func exchangeNow(_ bytes: Data, with path: String, keepsSending: Bool) -> Data {
        guard let descriptor = open(path) else { return Data() }
        defer { close(descriptor) }
        _ = send(bytes, to: descriptor)
        if !keepsSending { shutdown(descriptor, CInt(SHUT_WR)) }
        return receive(from: descriptor)
    }
}
