import Dispatch
import Glibc
import Synchronization

/// Notes the first Ctrl-C or SIGTERM, so that a run ends in order; the second one ends the program.
final class Interruption: Sendable {
    private let noted = Mutex(false)
    private let sources = Mutex<[any DispatchSourceSignal]>([])

    var happened: Bool { noted.withLock { $0 } }

    init() {
        sources.withLock { sources in
            for number in [SIGINT, SIGTERM] {
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { [weak self] in self?.note() }
                source.resume()
                sources.append(source)
            }
        }
    }

    deinit { restore() }

    private func note() {
        noted.withLock { $0 = true }
        restore()
        StandardStream.error.write("\nstopping, once what is under way is done; again ends at once\n")
    }

    private func restore() {
        sources.withLock { sources in
            for source in sources { source.cancel() }
            sources = []
        }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
}
