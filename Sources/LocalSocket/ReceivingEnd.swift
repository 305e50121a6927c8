import Glibc
package import NIOCore

extension ChannelPipeline.SynchronousOperations {
    /// Makes the client's further writes to a Unix socket fail before a byte is sent. So the server knows which
    /// requests it must still answer: those whose bytes have arrived.
    ///
    /// The method calls shutdown(2) with SHUT_RD. On a Unix socket, bytes that the client wrote before the call remain
    /// readable. NIO's own function, `close(mode: .input)`, would discard these bytes.
    ///
    /// - Returns: whether bytes that the client wrote are still unread; nil if the channel has no socket.
    package func stopReceiving() throws -> Bool? {
        try withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            _ = shutdown(socket, CInt(SHUT_RD))
            var byte: UInt8 = 0
            return recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
        }
    }
}
