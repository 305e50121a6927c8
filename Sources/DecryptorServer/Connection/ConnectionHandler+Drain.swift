import Glibc
import NIOCore

extension ConnectionHandler {
    /// Begins the shutdown of the connection: makes the client's further writes fail. The server still reads and answers
    /// the requests that the client has already written. Then the connection closes.
    ///
    /// The method calls shutdown(2) with SHUT_RD. On a Unix socket, bytes that the client wrote before the call remain
    /// readable. NIO's own function, `close(mode: .input)`, would discard these bytes.
    func stopReceiving(_ context: ChannelHandlerContext) {
        do {
            try context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                _ = shutdown($0, CInt(SHUT_RD))
            }
        } catch {
            context.close(promise: nil)
        }
    }
}
