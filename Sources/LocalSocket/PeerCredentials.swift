import Glibc

/// The process at the other end of a Unix socket. The kernel recorded these credentials when the process connected (see
/// SO_PEERCRED in unix(7)), so they do not show later changes.
package struct PeerCredentials: Hashable, Sendable {
    package let uid: UInt32
    package let gid: UInt32
    /// The groups that SO_PEERGROUPS returns. They may include the primary group.
    package let supplementaryGroups: Set<UInt32>
    package let pid: Int32

    package init(uid: UInt32, gid: UInt32, supplementaryGroups: Set<UInt32> = [], pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.supplementaryGroups = supplementaryGroups
        self.pid = pid
    }

    /// - Parameter descriptor: a connected Unix socket.
    package init(of descriptor: CInt) throws(SocketFault) {
        // `struct ucred` of <sys/socket.h>, which Swift's Glibc does not export: pid, uid, gid, 32 bits each.
        var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        let size = socklen_t(MemoryLayout.size(ofValue: credentials))
        var length = size
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            length == size
        else { throw .system("cannot read the credentials of a connection's peer") }
        self.init(
            uid: credentials.uid, gid: credentials.gid, supplementaryGroups: try Self.groups(of: descriptor),
            pid: credentials.pid)
    }

    /// `SO_PEERGROUPS` of <asm-generic/socket.h>, since Linux 4.13.
    private static let peerGroups: CInt = 59
    /// `NGROUPS_MAX` of <linux/limits.h>.
    private static let maximumGroups = 65_536

    private static func groups(of descriptor: CInt) throws(SocketFault) -> Set<UInt32> {
        var groups = [UInt32](repeating: 0, count: 32)
        // If the array is too short, getsockopt(2) fails with ERANGE, and sets `length` to the needed length.
        while true {
            var length = socklen_t(groups.count * MemoryLayout<UInt32>.stride)
            if getsockopt(descriptor, SOL_SOCKET, peerGroups, &groups, &length) == 0 {
                return Set(groups.prefix(Int(length) / MemoryLayout<UInt32>.stride))
            }
            let needed = Int(length) / MemoryLayout<UInt32>.stride
            guard errno == ERANGE, needed > groups.count, needed <= maximumGroups else {
                throw .system("cannot read the groups of a connection's peer")
            }
            groups = [UInt32](repeating: 0, count: needed)
        }
    }

    /// In bytes. A longer path is truncated.
    private static let longestProgramPath = 1024

    /// The path of the process's program. If the path cannot be read, the name of the process in brackets. Empty if
    /// neither can be read, for example because the process has ended.
    ///
    /// Use this only in logs and the audit, never to authorize the process: the process may have ended, and another
    /// process may have its identifier by now. A process can also choose its own name. Characters that could forge a
    /// log line are replaced.
    package var program: String {
        if let path = Self.bytes(ofLinkAt: "/proc/\(pid)/exe") { return Self.printable(path) }
        guard let name = Self.bytes(ofFileAt: "/proc/\(pid)/comm"), !name.isEmpty else { return "" }
        return "[\(Self.printable(name))]"
    }

    private static func bytes(ofLinkAt path: String) -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: longestProgramPath)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink(path, $0, text.count) } ?? -1
            }
        }
        return count > 0 ? buffer[..<count] : nil
    }

    private static func bytes(ofFileAt path: String) -> ArraySlice<UInt8>? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        return buffer[..<count].last == UInt8(ascii: "\n") ? buffer[..<(count - 1)] : buffer[..<count]
    }

    /// Replaces characters by `?` if they are invisible, reorder text or control a terminal.
    private static func printable(_ bytes: some Collection<UInt8>) -> String {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: "?"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
