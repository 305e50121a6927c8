import HTTPKit
import Logging
import Synchronization
import Testing

@Suite struct LimitedLogTests {
    private final class Lines: Sendable {
        let lines = Mutex<[String]>([])
        let elapsed = Mutex(Duration.zero)
        let start = ContinuousClock.now

        var log: LimitedLog {
            LimitedLog(Logger(label: "test") { [self] _ in Handler(lines: self) }) { [self] in
                start.advanced(by: elapsed.withLock { $0 })
            }
        }

        var all: [String] { lines.withLock { $0 } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { lines in
                lines.append("\(event.message) \((event.metadata ?? [:])["linesLeftOut"].map { "\($0)" } ?? "")")
            }
        }
    }

    private let lines = Lines()

    @Test("a repeated message is logged in a burst, then once per interval with the number of lines left out")
    func limited() {
        let log = lines.log
        for _ in 0..<1000 { log.write(.info, "refused", source: "uid:1", metadata: [:]) }
        #expect(lines.all.count == LimitedLog.burst)
        lines.elapsed.withLock { $0 = LimitedLog.interval }
        for _ in 0..<1000 { log.write(.info, "refused", source: "uid:1", metadata: [:]) }
        #expect(lines.all.count == LimitedLog.burst + 1)
        #expect(lines.all.last == "refused \(1000 - LimitedLog.burst)")
        lines.elapsed.withLock { $0 = LimitedLog.interval * 100 }
        for _ in 0..<1000 { log.write(.info, "refused", source: "uid:1", metadata: [:]) }
        #expect(lines.all.count == 2 * LimitedLog.burst + 1)
    }

    @Test("lines of one user or message do not suppress lines of another user or message")
    func apart() {
        let log = lines.log
        for _ in 0..<100 { log.write(.info, "refused", source: "uid:1", metadata: [:]) }
        log.write(.info, "refused", source: "uid:2", metadata: [:])
        log.write(.error, "failed", source: "uid:1", metadata: [:])
        #expect(lines.all.count == LimitedLog.burst + 2)
    }

    @Test("the number of lines is bounded for any number of users")
    func manyUsers() {
        let log = lines.log
        for uid in 0..<100_000 { log.write(.info, "refused", source: "uid:\(uid)", metadata: [:]) }
        #expect(lines.all.count < 300)
    }
}
