import Glibc

/// Sends single messages to a datagram socket of this machine, such as those of syslog and systemd.
package enum UnixDatagram {
    /// Sends one message.
    ///
    /// - Parameter seconds: how long to wait if the receiver's queue is full. 0 gives up at once.
    /// - Returns: 0, or the error number.
    package static func send(_ text: String, to address: UnixAddress, waitingAtMost seconds: Int) -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var flags = CInt(MSG_NOSIGNAL)
        if seconds > 0 {
            var limit = timeval(tv_sec: seconds, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        } else {
            flags |= CInt(MSG_DONTWAIT)
        }
        let bytes = Array(text.utf8)
        while true {
            let sent = address.withSocketAddress { sendto(descriptor, bytes, bytes.count, flags, $0, $1) }
            if sent == bytes.count { return 0 }
            // A datagram is sent as a whole or not at all.
            guard errno == EINTR else { return errno }
        }
    }
}
