import Logging
import Synchronization

/// Captures log lines, and waits for them.
final class CapturedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test") { [self] _ in Handler(log: self) } }

    /// Returns once `times` lines that contain `text` were logged. If too few are logged, the time limit of the suite
    /// ends the test.
    func wait(for text: String, times: Int) async throws {
        while lines.withLock({ lines in lines.count { $0.contains(text) } }) < times {
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private struct Handler: LogHandler {
        let log: CapturedLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            log.lines.withLock { $0.append(([event.message.description] + pairs).joined(separator: " ")) }
        }
    }
}
