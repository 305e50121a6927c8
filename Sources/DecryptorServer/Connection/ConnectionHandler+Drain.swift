import Glibc
import NIOCore

extension ConnectionHandler {
    /// Receives nothing new. What the kernel already holds is still read and answered; then the connection ends.
    ///
    /// shutdown(2) with SHUT_RD on a Unix socket makes the client's writes fail at once and leaves what it wrote before
    /// readable. NIO's own way of closing the input would drop that.
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
