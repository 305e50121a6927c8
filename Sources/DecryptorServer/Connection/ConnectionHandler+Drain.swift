import HTTPKit
import LocalSocket
import NIOCore

/// Closes a connection during a shutdown. Every request whose head has arrived is answered. The last response has the
/// field `Connection: close`, and after it the client cannot send another request.
extension ConnectionHandler {
    /// After `limits.idleGrace`, closes the connection if the connection is idle. Otherwise the connection closes after
    /// the last response: ``isLastOfDrain(_:)``.
    func watchDrain(_ context: ChannelHandlerContext) {
        timers.setGrace(
            context.eventLoop.assumeIsolated().scheduleTask(in: environment.limits.idleGrace) {
                guard self.hasNothingOutstanding, !self.timers.awaitsArrival else { return }
                // If a request has arrived before this call, it is still answered, and then the connection closes.
                self.stopReceivingAndCheckUnread(context)
            })
    }

    /// Whether the server is shutting down, every request has its response, and no bytes of another request are unread.
    /// The check also stops receiving, so the client cannot send another request afterwards.
    func isLastOfDrain(_ context: ChannelHandlerContext) -> Bool {
        isDraining && hasNothingOutstanding && !stopReceivingAndCheckUnread(context)
    }

    /// - Returns: whether bytes that the client has sent are unread.
    @discardableResult
    private func stopReceivingAndCheckUnread(_ context: ChannelHandlerContext) -> Bool {
        do { return try context.pipeline.syncOperations.stopReceivingAndCheckUnread() ?? false } catch {
            context.close(promise: nil)
            return false
        }
    }
}
