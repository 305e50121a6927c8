import Glibc
import LocalSocket

/// Requests `/v1/health` from a running daemon, to find out whether it responds. Uses no HTTP client, because only the
/// status is needed.
struct HealthProbe {
    enum Result: Equatable {
        /// The HTTP status of the response.
        case status(Int)
        /// There was no response. The text is the reason.
        case none(String)
    }

    /// The path of the socket.
    let socketPath: String
    let longestWait: Duration

    func run() -> Result {
        guard let address = UnixAddress(path: socketPath) else { return .none("the path is too long for a socket") }
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .none(PathAccess.lastError) }
        defer { close(descriptor) }
        var wait = timeval(tv_sec: Int(longestWait.components.seconds), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &wait, socklen_t(MemoryLayout<timeval>.size))
        }
        guard address.withSocketAddress({ connect(descriptor, $0, $1) }) == 0 else {
            return .none(PathAccess.lastError)
        }
        let request = Array("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, CInt(MSG_NOSIGNAL)) == request.count else {
            return .none(PathAccess.lastError)
        }
        var response = [UInt8](repeating: 0, count: "HTTP/1.1 200".utf8.count)
        let count = recv(descriptor, &response, response.count, CInt(MSG_WAITALL))
        if count < 0, errno == EAGAIN {
            return .none("it sent nothing within \(longestWait.components.seconds) seconds")
        }
        let words = String(decoding: response.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            let reason = count == 0 ? "it closed the connection" : "its response is not HTTP"
            return .none(count < 0 ? PathAccess.lastError : reason)
        }
        return .status(status)
    }
}
