import Glibc
import MerchantCore

/// Sends each audit head as one line to the local syslog daemon, which may forward it to another machine.
struct SyslogSocket {
    /// Facility authpriv (10) and severity notice (5), see RFC 5424 section 6.2.1.
    private static let priority = 10 * 8 + 5

    let path: String

    func send(_ head: AuditHead) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SettingsError(
                "'audit.head.syslog' is longer than the operating system allows for a socket; use a shorter path")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let text = Array("<\(Self.priority)>merchantkeyd[\(getpid())]: audit head \(head)".utf8)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                // With MSG_DONTWAIT, a syslog daemon that does not read cannot block this one.
                sendto(
                    descriptor, text, text.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0,
                    socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard sent == text.count else { throw failure() }
    }

    private func failure() -> SettingsError {
        SettingsError(
            "'audit.head.syslog' names \(path), to which a line cannot be sent: \(String(cString: strerror(errno)))")
    }
}
