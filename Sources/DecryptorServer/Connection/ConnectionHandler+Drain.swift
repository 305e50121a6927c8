import HTTPKit
import LocalSocket
import NIOCore

/// The end of a connection during a shutdown. Every request that has begun to arrive is answered. The last response has
/// the field `Connection: close`, and after it the client cannot send another request.
extension ConnectionHandler {
    /// Ends the connection after `limits.idleGrace` if it is idle then. Otherwise the connection ends with the last
    /// response: ``isLastOfDrain(_:)``.
    func watchDrain(_ context: ChannelHandlerContext) {
        timers.setGrace(
            context.eventLoop.assumeIsolated().scheduleTask(in: environment.limits.idleGrace) {
                guard self.hasNothingOutstanding, !self.timers.awaitsArrival else { return }
                // A request that arrives before this call is answered. Then the end of the input closes the connection.
                self.stopReceiving(context)
            })
    }

    /// Whether the server is shutting down, every request has its response, and no further request has arrived. From
    /// then on, the client cannot send another.
    func isLastOfDrain(_ context: ChannelHandlerContext) -> Bool {
        isDraining && hasNothingOutstanding && !stopReceiving(context)
    }

    /// - Returns: whether bytes that the client has sent are unread.
    @discardableResult
    private func stopReceiving(_ context: ChannelHandlerContext) -> Bool {
        do { return try context.pipeline.syncOperations.stopReceiving() ?? false } catch {
            context.close(promise: nil)
            return false
        }
    }
}
