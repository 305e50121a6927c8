package import NIOCore
import Synchronization

/// Checks whether every event loop of the decryptor server still runs its tasks; used by the daemon's watchdog.
package final class EventLoopProbe: Sendable {
    private let loops = Mutex<[any EventLoop]>([])

    package init() {}

    /// - Parameter loops: the event loops to ask; empty while the server does not run.
    package func watch(_ loops: [any EventLoop]) { self.loops.withLock { $0 = loops } }

    /// Asks each event loop to run a task, one loop after the other.
    ///
    /// - Parameter answered: called once, when all loops have run their task, and never if a loop hangs.
    package func ask(_ answered: @escaping @Sendable () -> Void) {
        Self.ask(loops.withLock { $0 }[...], answered)
    }

    private static func ask(_ loops: ArraySlice<any EventLoop>, _ answered: @escaping @Sendable () -> Void) {
        guard let loop = loops.first else { return answered() }
        loop.execute { ask(loops.dropFirst(), answered) }
    }
}
