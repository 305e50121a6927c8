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
    package func stopReceivingAndCheckUnread() throws -> Bool? {
        // The handler keeps bytes only if the input has ended: the client has closed its side, or this method was
        // called before. NIO has then read the rest of the input, so shutdown(2) is not needed.
        if let handler = try? handler(type: EndOfInputHandler.self), handler.isKeeping { return true }
        return try withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            _ = shutdown(socket, CInt(SHUT_RD))
            return Self.hasByteToRead(socket)
        }
    }

    /// Whether bytes that the client wrote to a TCP socket have arrived and are unread. With TLS, these are encrypted
    /// bytes, which may be a TLS message and no request.
    ///
    /// TCP has no operation like ``stopReceivingAndCheckUnread()``: the client can still write after this call.
    ///
    /// - Returns: nil if the channel has no socket.
    package func hasUnreadBytes() throws -> Bool? {
        try withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { Self.hasByteToRead($0) }
    }

    private static func hasByteToRead(_ socket: NIOBSDSocket.Handle) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
    }
}
