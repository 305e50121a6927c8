import HTTPKit
import NIOCore

extension ConnectionHandler {
    /// The timers of a connection. At most one of each kind, so that a busy connection schedules nothing.
    struct Clock {
        private var lastTouched = NIODeadline.now()
        private var idleness: Scheduled<Void>?
        private var arrival: Scheduled<Void>?
        private var lingering: Scheduled<Void>?

        mutating func touch() { lastTouched = .now() }

        mutating func requestArrived() {
            guard arrival != nil else { return }
            arrival?.cancel()
            arrival = nil
        }

        /// Closes the connection after this time in any case.
        mutating func linger(_ time: TimeAmount, _ context: ChannelHandlerContext) {
            requestArrived()
            idleness?.cancel()
            guard lingering == nil else { return }
            lingering = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        }

        mutating func cancel() {
            idleness?.cancel()
            arrival?.cancel()
            lingering?.cancel()
        }

        fileprivate func isIdle(for time: TimeAmount) -> Bool { lastTouched + time <= .now() }
        fileprivate func idleDeadline(_ time: TimeAmount) -> NIODeadline { lastTouched + time }
        fileprivate var awaitsArrival: Bool { arrival != nil }
        fileprivate mutating func setIdleness(_ timer: Scheduled<Void>) { idleness = timer }
        fileprivate mutating func setArrival(_ timer: Scheduled<Void>?) { arrival = timer }
    }

    /// Closes the connection once it was idle for the idle time and has no outstanding response.
    func watchIdleness(_ context: ChannelHandlerContext) {
        let time = environment.limits.idleTime
        let deadline = hasNothingOutstanding ? clock.idleDeadline(time) : .now() + time
        clock.setIdleness(
            context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
                if self.hasNothingOutstanding, self.clock.isIdle(for: time) {
                    context.close(promise: nil)
                } else {
                    self.watchIdleness(context)
                }
            })
    }

    /// Refuses a request that has begun and does not arrive in time.
    func watchArrival(_ context: ChannelHandlerContext) {
        guard !clock.awaitsArrival else { return }
        clock.setArrival(
            context.eventLoop.assumeIsolated().scheduleTask(in: environment.limits.requestTime) {
                self.clock.setArrival(nil)
                if self.isReadingSuspended {
                    // The server itself suspended reading.
                    self.watchArrival(context)
                } else {
                    self.refuse(HTTPFault.requestTooSlow)
                }
            })
    }
}
