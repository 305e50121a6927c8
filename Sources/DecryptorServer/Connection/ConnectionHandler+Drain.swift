import HTTPKit
import LocalSocket
import NIOCore

/// Closes a connection during a shutdown. Within the drain time, every request whose head has arrived is answered.
/// Unless a part of a further request has arrived, the last response has the field `Connection: close`, and the client
/// cannot send another request after it.
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

    /// False unless the server is shutting down. During a shutdown: whether every request has its response, and no
    /// bytes of another request are unread. Before it checks for unread bytes, this method stops receiving, so the
    /// client cannot send another request afterwards.
    func isLastOfDrain(_ context: ChannelHandlerContext) -> Bool {
        isDraining && hasNothingOutstanding && !stopReceivingAndCheckUnread(context)
    }

    /// - Returns: whether bytes that the client has sent are unread. If the check fails, false; then the connection is
    ///   closed.
    @discardableResult
    private func stopReceivingAndCheckUnread(_ context: ChannelHandlerContext) -> Bool {
        do { return try context.pipeline.syncOperations.stopReceivingAndCheckUnread() ?? false } catch {
            context.close(promise: nil)
            return false
        }
    }
}
