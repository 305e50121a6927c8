import Synchronization

/// Limits how many bytes of memory the requests and responses of a server use, in total and for each user. The bytes are
/// only counted here; the callers allocate the memory.
package final class BufferedBytes: Sendable {
    private let shares: Mutex<Shares>

    package init(_ limits: Shares.Limits) { shares = Mutex(Shares(limits)) }

    fileprivate func take(_ bytes: Int, for holder: Shares.Holder) throws(Shares.Exhausted) {
        let result: Result<Void, Shares.Exhausted> = shares.withLock { shares in
            do throws(Shares.Exhausted) { return .success(try shares.take(bytes, for: holder)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    fileprivate func giveBack(_ bytes: Int, from holder: Shares.Holder) {
        shares.withLock { $0.giveBack(bytes, from: holder) }
    }

    /// The bytes that one connection has reserved. They are released at the latest when this object is deallocated.
    package final class Reservation: Sendable {
        private let budget: BufferedBytes
        private let holder: Shares.Holder
        private let held = Mutex(0)

        package init(of budget: BufferedBytes, for holder: Shares.Holder) {
            self.budget = budget
            self.holder = holder
        }

        /// Reserves further bytes for the connection. Call this before the memory is allocated.
        package func reserve(_ bytes: Int) throws(Shares.Exhausted) {
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
