import Glibc
import NIOCore

extension ConnectionHandler {
    /// Makes the client's further writes fail. Requests that the client has already written are still read and
    /// answered; then the connection closes.
    ///
    /// shutdown(2) with SHUT_RD on a Unix socket does this: bytes that the client wrote before remain readable. NIO's
    /// own function, `close(mode: .input)`, would discard those bytes.
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
