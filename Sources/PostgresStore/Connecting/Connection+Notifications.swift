import CLibPQ
import Glibc

extension Connection {
    /// Waits until the server has sent a notification, a byte can be read from `stop`, or `deadline` has passed. The
    /// connection must have run LISTEN.
    ///
    /// - Returns: whether a notification arrived. Discards all notifications that have arrived.
    /// - Throws: ``PostgresError`` if the connection is lost.
    func waitForNotification(until deadline: ContinuousClock.Instant, orBytesOn stop: CInt) throws -> Bool {
        try exclusively {
            // A notification may have arrived together with the response to an earlier statement.
            if removeNotifications() { return true }
            var sources = [
                pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0),
                pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
            ]
            let remaining = (deadline - ContinuousClock.now).milliseconds
            guard remaining > 0, poll(&sources, 2, CInt(clamping: remaining)) > 0, sources[0].revents != 0 else {
                return false
            }
            guard PQconsumeInput(pointer) == 1 else {
                let error = PostgresError(result: nil, of: pointer)
                markLost()
                throw error
            }
            return removeNotifications()
        }
    }

    private func removeNotifications() -> Bool {
        var found = false
        while let notification = PQnotifies(pointer) {
            PQfreemem(notification)
            found = true
        }
        return found
    }
}
