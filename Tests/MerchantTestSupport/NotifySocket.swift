import Foundation
import Glibc

/// The socket on which systemd receives notifications: a real datagram socket.
package final class NotifySocket: Sendable {
    package let path: String
    private let descriptor: CInt

    package init(_ path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(result == 0, "the directory of the socket exists")
    }

    deinit { close(descriptor) }

    /// The next message. Blocks the calling thread.
    ///
    /// - Returns: nil if none arrives in time.
    package func next(within seconds: Int) -> String? {
        var limit = timeval(tv_sec: seconds, tv_usec: seconds == 0 ? 1 : 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
}
