import Dispatch
import Glibc
import Synchronization

/// Records the first Ctrl-C or SIGTERM, so that a run finishes the calls in progress and starts no others. A second
/// signal terminates the program at once.
final class Interruption: Sendable {
    private let hasHappened = Mutex(false)
    private let sources = Mutex<[any DispatchSourceSignal]>([])

    var happened: Bool { hasHappened.withLock { $0 } }

    init() {
        sources.withLock { sources in
            for number in [SIGINT, SIGTERM] {
                // By default the signal would terminate the program before the event handler runs.
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { [weak self] in self?.record() }
                source.resume()
                sources.append(source)
            }
        }
    }

    deinit { restoreDefaultActions() }

    /// Handles the first signal. The default action of a second signal terminates the program.
    private func record() {
        hasHappened.withLock { $0 = true }
        restoreDefaultActions()
        StandardStream.error.write("\nstopping after the running requests; press Ctrl-C again to stop at once\n")
    }

    private func restoreDefaultActions() {
        sources.withLock { sources in
            for source in sources { source.cancel() }
            sources = []
        }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
