import Glibc
import Synchronization

/// A request to stop, which wakes a thread that waits for it or for a file descriptor.
final class StopSignal: Sendable {
    /// Has a byte to read once the signal is set.
    let descriptor: CInt
    private let writeEnd: CInt
    private let state = Atomic(false)

    init() {
        var ends: [CInt] = [-1, -1]
        // Without a pipe, the waits end at their time limits.
        if pipe(&ends) != 0 { ends = [-1, -1] }
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit { for end in [descriptor, writeEnd] where end >= 0 { close(end) } }

    var isSet: Bool { state.load(ordering: .acquiring) }

    func set() {
        state.store(true, ordering: .releasing)
        _ = write(writeEnd, [1], 1)
    }

    /// Returns after `limit`, or earlier if the signal is set.
    func wait(for limit: Duration) {
        var found = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&found, 1, CInt(clamping: limit.milliseconds))
    }
}
