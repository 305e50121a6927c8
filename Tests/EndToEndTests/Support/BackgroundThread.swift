import Dispatch
import Foundation

/// Runs work that may block on a new thread.
final class BackgroundThread: Sendable {
    private let work = DispatchGroup()

    init(_ body: @escaping @Sendable () -> Void) {
        work.enter()
        Thread.detachNewThread { [work] in
            body()
            work.leave()
        }
    }

    var hasEnded: Bool { work.wait(timeout: .now()) == .success }

    func join() { work.wait() }
}
