import HTTPKit
import NIOCore

extension ConnectionHandler {
    /// The timers of a connection, at most one of each kind. A request that arrives in one read schedules no timer,
    /// because scheduling would slow down a busy connection.
    struct Timers {
        private var lastActivity = NIODeadline.now()
        private var idleness: Scheduled<Void>?
        private var arrival: Scheduled<Void>?
        private var lingering: Scheduled<Void>?
        private var grace: Scheduled<Void>?

        /// Records that the connection is not idle now.
        mutating func recordActivity() { lastActivity = .now() }

        /// Cancels the timer that ``ConnectionHandler/watchArrival(_:)`` started. Call this when the request has
        /// arrived completely, or when the handler no longer waits for the request.
        mutating func cancelArrival() {
            guard arrival != nil else { return }
            arrival?.cancel()
            arrival = nil
        }

        /// Closes the connection after `time`, whatever the client does until then. Cancels the timers of idleness and
        /// arrival.
        mutating func linger(_ time: TimeAmount, _ context: ChannelHandlerContext) {
            cancelArrival()
            idleness?.cancel()
            guard lingering == nil else { return }
            lingering = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        }

        mutating func cancel() {
            idleness?.cancel()
            arrival?.cancel()
            lingering?.cancel()
            grace?.cancel()
        }

        fileprivate func isIdle(for time: TimeAmount) -> Bool { lastActivity + time <= .now() }
        fileprivate func idleDeadline(_ time: TimeAmount) -> NIODeadline { lastActivity + time }
        /// Whether a request has arrived only in part.
        var awaitsArrival: Bool { arrival != nil }
        mutating func setGrace(_ timer: Scheduled<Void>) { grace = timer }
        fileprivate mutating func setIdleness(_ timer: Scheduled<Void>) { idleness = timer }
        fileprivate mutating func setArrival(_ timer: Scheduled<Void>?) { arrival = timer }
    }

    /// Closes the connection when the connection has been idle for `limits.idleTime`. A connection with an outstanding
    /// request or response is not idle.
    func watchIdleness(_ context: ChannelHandlerContext) {
        let time = environment.limits.idleTime
        let deadline = hasNothingOutstanding ? timers.idleDeadline(time) : .now() + time
        timers.setIdleness(
            context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
                if self.hasNothingOutstanding, self.timers.isIdle(for: time) {
                    context.close(promise: nil)
                } else {
                    self.watchIdleness(context)
                }
            })
    }

    /// Refuses the request that is arriving, unless it is complete within `limits.requestTime`.
    func watchArrival(_ context: ChannelHandlerContext) {
        guard !timers.awaitsArrival else { return }
        timers.setArrival(
            context.eventLoop.assumeIsolated().scheduleTask(in: environment.limits.requestTime) {
                self.timers.setArrival(nil)
                if self.isReadingSuspended {
                    // The client is not slow: the server itself suspended reading. So the timer starts again.
                    self.watchArrival(context)
                } else {
                    self.refuse(HTTPFault.requestTooSlow)
                }
            })
    }
}
