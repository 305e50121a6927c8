import Dispatch
import GRDB
import Synchronization

/// Opens all reading connections of a pool, in the background.
///
/// GRDB opens such a connection only when a read needs it. Opening fails if the database's file was moved or removed
/// meanwhile. A connection that is already open continues to read the file.
///
/// GRDB opens a further connection only while all open ones are in use. So this type starts as many reads as there are
/// connections, and a read ends only when all have begun. Another read may use a connection for a long time, so there
/// is a time limit, after which some connections may not be open.
package struct ReaderOpening: Sendable {
    /// The first error of any read.
    private final class FirstFailure: Sendable {
        private let error = Mutex<(any Error)?>(nil)

        var value: (any Error)? { error.withLock { $0 } }

        func record(_ new: any Error) { error.withLock { $0 = $0 ?? new } }
    }

    private let failure = FirstFailure()
    private let ended = DispatchGroup()

    /// Blocks the calling thread until the opening has ended.
    ///
    /// - Throws: the error of the first connection that could not be opened.
    func wait() throws {
        ended.wait()
        if let error = failure.value { throw error }
    }

    /// Opens the connections. Ignores a failure, because GRDB tries again when a read needs the connection. Delays
    /// other reads by at most 50 ms.
    static func open(_ pool: DatabasePool) async {
        let opening = ReaderOpening(pool, limit: .milliseconds(50))
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            opening.ended.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Starts the reads, and does not wait for them.
    ///
    /// - Parameter limit: the time that each read waits for the others to begin.
    init(_ pool: DatabasePool, limit: DispatchTimeInterval = .seconds(5)) {
        let begun = DispatchGroup()
        for _ in 0..<Connections.maximumReaders {
            begun.enter()
            ended.enter()
        }
        for _ in 0..<Connections.maximumReaders {
            pool.asyncRead { [ended, failure] db in
                defer { ended.leave() }
                do {
                    // SQLite opens the write-ahead log at the first statement that reads the file.
                    _ = try Row.fetchOne(try db.get(), sql: "SELECT 1 FROM sqlite_master LIMIT 1")
                    begun.leave()
                } catch {
                    failure.record(error)
                    begun.leave()
                    // Without a connection, this runs on the queue that starts the other reads, so it must not wait.
                    return
                }
                _ = begun.wait(timeout: .now() + limit)
            }
        }
    }
}
