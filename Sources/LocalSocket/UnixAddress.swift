package import Glibc

/// The address of a Unix socket: a path, or a name in the kernel's abstract namespace. See unix(7).
package struct UnixAddress: Hashable, Sendable {
    /// The used bytes of `sun_path`. The first byte of an abstract name is zero.
    private let bytes: [UInt8]

    /// - Parameter path: 1 to ``UnixListener/longestPath`` bytes without a zero byte; otherwise the result is nil.
    package init?(path: String) {
        let bytes = Array(path.utf8)
        guard (1...UnixListener.longestPath).contains(bytes.count), !bytes.contains(0) else { return nil }
        self.bytes = bytes
    }

    /// Reads an address as systemd writes it: an absolute path, or `@` and an abstract name.
    package init?(systemd text: String) {
        let name = Array(text.utf8.dropFirst())
        guard text.hasPrefix("/") || text.hasPrefix("@"), name.count < UnixListener.longestPath, !name.isEmpty,
            !name.contains(0)
        else { return nil }
        bytes = (text.hasPrefix("@") ? [0] : Array("/".utf8)) + name
    }

    /// The address to which a socket is bound; nil if the descriptor is not a bound Unix socket.
    package init?(ofSocket descriptor: CInt) {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        let count = Int(length) - Self.nameOffset
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX), count > 0 else { return nil }
        let name = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix(count)) }
        // The length of a path may include its final zero byte.
        bytes = name.first == 0 ? name : Array(name.prefix { $0 != 0 })
    }

    /// nil for an abstract name.
    package var path: String? { bytes.first == 0 ? nil : String(decoding: bytes, as: UTF8.self) }

    package func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The length of an abstract address must not include bytes after the name: they would be part of the name.
        let length = Self.nameOffset + bytes.count + (bytes.first == 0 ? 0 : 1)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }

    /// The position of `sun_path` in the address.
    private static var nameOffset: Int {
        MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: sockaddr_un().sun_path)
    }
}
