import Glibc

/// A datagram socket that receives single messages of another process, see ``UnixDatagram``. Its file exists as long as
/// this object.
package final class UnixDatagramReceiver: Sendable {
    /// The longest message, in bytes. The rest of a longer one is lost.
    package static let longestMessage = 65_536

    private let descriptor: CInt
    private let path: String

    /// Creates the socket and its file. First removes any file at the path, such as one that an earlier process left.
    ///
    /// - Returns: nil if the socket cannot be created; `errno` then says why.
    package init?(path: String) {
        guard let address = UnixAddress(path: path) else {
            errno = ENAMETOOLONG
            return nil
        }
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        unlink(path)
        guard address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else {
            let error = errno
            close(descriptor)
            errno = error
            return nil
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    /// - Parameter seconds: at least 1. With 0 the method would wait without a limit.
    /// - Returns: the next message; nil if none arrives in time, or if receiving fails.
    package func next(withinSeconds seconds: Int) -> String? {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes = [UInt8](repeating: 0, count: Self.longestMessage)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count >= 0 { return String(decoding: bytes[..<count], as: UTF8.self) }
            guard errno == EINTR else { return nil }
        }
    }
}
