import Glibc
import LocalSocket
import MerchantCore

/// Sends each audit head as one line to the local syslog daemon, which may forward it to another machine.
struct SyslogSocket {
    /// Facility authpriv (10) and severity notice (5), see RFC 5424 section 6.2.1.
    private static let priority = 10 * 8 + 5

    let path: String

    func send(_ head: AuditHead) throws {
        guard let address = UnixAddress(path: path) else {
            throw SettingsError(
                "'audit.head.syslog' is longer than the operating system allows for a socket; use a shorter path")
        }
        let text = "<\(Self.priority)>merchantkeyd[\(getpid())]: audit head \(head)"
        // Does not wait, so that a syslog daemon that does not read cannot block merchantkeyd.
        let errorNumber = UnixDatagram.send(text, to: address, waitingAtMost: 0)
        guard errorNumber == 0 else {
            throw SettingsError(
                "'audit.head.syslog' names \(path), to which a line cannot be sent: \(String(cString: strerror(errorNumber)))"
            )
        }
    }
}
