import Foundation

/// Threads for calls that block. Such a call must not block the threads that tasks run on.
enum BlockingThread {
    static func run(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }
}
