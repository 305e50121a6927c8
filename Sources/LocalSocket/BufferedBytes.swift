import Synchronization

/// Bounds the memory that a server's requests and responses hold, in bytes: over all connections, and for each user.
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

    /// The share of one connection.
    package final class Reservation: Sendable {
        private let buffered: BufferedBytes
        private let holder: Shares.Holder
        private let held = Mutex(0)

        package init(of buffered: BufferedBytes, for holder: Shares.Holder) {
            self.buffered = buffered
            self.holder = holder
        }

        /// Call it before the memory is used.
        package func take(_ bytes: Int) throws(Shares.Exhausted) {
            guard bytes > 0 else { return }
            try buffered.take(bytes, for: holder)
            held.withLock { $0 += bytes }
        }

        /// Call it once the connection uses none of the memory.
        package func giveBackAll() {
            let bytes = held.withLock { held in
                defer { held = 0 }
                return held
            }
            guard bytes > 0 else { return }
            buffered.giveBack(bytes, from: holder)
        }

        deinit { giveBackAll() }
    }
}
