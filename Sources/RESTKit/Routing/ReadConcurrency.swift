package import LocalSocket
import Synchronization

/// Limits how many reads of one user run at the same time. Further reads of the same user wait.
///
/// A list of a thousand items takes several milliseconds of processor time. Without the limit, a user with hundreds of
/// connections could delay all other users.
package final class ReadConcurrency: Sendable {
    /// The reads of one user.
    private struct UserReads {
        var running = 0
        /// The reads that wait, in the order in which they will run.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let maximumPerUser: Int
    private let users = Mutex<[UserQuotas.Holder: UserReads]>([:])

    /// - Parameter maximumPerUser: how many reads of one user may run at the same time.
    package init(maximumPerUser: Int) { self.maximumPerUser = maximumPerUser }

    /// Runs a read. If `maximumPerUser` reads of the user are running already, the read first waits until another read
    /// has ended.
    package func run<Value: Sendable>(for user: UserQuotas.Holder, _ read: () async throws -> Value) async throws
        -> Value
    {
        await begin(user)
        defer { end(user) }
        return try await read()
    }

    private func begin(_ user: UserQuotas.Holder) async {
        await withCheckedContinuation { continuation in
            let mayRun = users.withLock { users in
                guard users[user, default: UserReads()].running < maximumPerUser else {
                    users[user]?.waiting.append(continuation)
                    return false
                }
                users[user, default: UserReads()].running += 1
                return true
            }
            if mayRun { continuation.resume() }
        }
    }

    private func end(_ user: UserQuotas.Holder) {
        let next: CheckedContinuation<Void, Never>? = users.withLock { users in
            guard var state = users[user] else { return nil }
            // The read that has waited longest starts now, so the number of running reads does not change.
            guard state.waiting.isEmpty else {
                let next = state.waiting.removeFirst()
                users[user] = state
                return next
            }
            state.running -= 1
            users[user] = state.running == 0 ? nil : state
            return nil
        }
        next?.resume()
    }
}
