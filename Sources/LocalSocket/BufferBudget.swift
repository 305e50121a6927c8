import Synchronization

/// Limits how many bytes of memory the requests and responses of a server use, in total and for each user. This type
/// only counts the bytes. The server reserves bytes here before it allocates the memory.
package final class BufferBudget: Sendable {
    private let quotas: Mutex<UserQuotas>

    package init(_ limits: UserQuotas.Limits) { quotas = Mutex(UserQuotas(limits)) }

    /// - Parameter holder: whose limit applies.
    fileprivate func take(_ bytes: Int, for holder: UserQuotas.Holder) throws(UserQuotas.Exhausted) {
        let result: Result<Void, UserQuotas.Exhausted> = quotas.withLock { quotas in
            do throws(UserQuotas.Exhausted) { return .success(try quotas.take(bytes, for: holder)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    fileprivate func giveBack(_ bytes: Int, from holder: UserQuotas.Holder) {
        quotas.withLock { $0.giveBack(bytes, from: holder) }
    }

    /// The bytes that one connection has reserved. They are released at the latest when this object is deallocated.
    package final class Reservation: Sendable {
        private let budget: BufferBudget
        private let holder: UserQuotas.Holder
        /// How many bytes are reserved now.
        private let held = Mutex(0)

        package init(of budget: BufferBudget, for holder: UserQuotas.Holder) {
            self.budget = budget
            self.holder = holder
        }

        /// Reserves further bytes for the connection. Call this before the memory is allocated.
        ///
        /// - Throws: the limit that would be exceeded. Nothing is reserved then.
        package func reserve(_ bytes: Int) throws(UserQuotas.Exhausted) {
            guard bytes > 0 else { return }
            try budget.take(bytes, for: holder)
            held.withLock { $0 += bytes }
        }

        /// Releases all bytes of the connection. Call this when the connection no longer uses the memory.
        package func releaseAll() {
            let bytes = held.withLock { held in
                defer { held = 0 }
                return held
            }
            guard bytes > 0 else { return }
            budget.giveBack(bytes, from: holder)
        }

        deinit { releaseAll() }
    }
}
