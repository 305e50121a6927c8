import Glibc
import NIOCore

/// Tells a connection that the daemon is to end.
struct DrainEvent: Sendable {}

extension ConnectionHandler {
    /// Hears nothing new, and answers what was asked: what the kernel already holds is still read, then comes the end.
    ///
    /// shutdown(2) with SHUT_RD on a Unix socket makes the other side's writes fail at once and leaves what it wrote
    /// before to be read. NIO's own way of closing the input would drop that.
    func stopHearing(_ context: ChannelHandlerContext) {
        do {
            try context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                _ = shutdown($0, CInt(SHUT_RD))
            }
        } catch {
            context.close(promise: nil)
        }
    }
}
