import DaemonKit
import Logging
import Synchronization
import Testing

@Suite struct LogfmtFormTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private func line(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in
            LineLogHandler(.logfmt) { line in lines.all.withLock { $0.append(line) } }
        }
        logger.warning(message, metadata: metadata)
        let all = lines.all.withLock { $0 }
        #expect(all.count == 1)
        return all.first ?? ""
    }

    @Test("a line has time, level, message and the metadata by name, and one line feed")
    func whole() {
        let line = line("request forbidden", ["uid": "1001", "path": "/v1/keys/{publicKeyHash}"])
        let match = line.wholeMatch(
            of: /time=\S+Z level=warning message="request forbidden" path="\/v1\/keys\/\{publicKeyHash\}" uid=1001\n/)
        #expect(match != nil, "\(line)")
    }

    @Test(
        "a value that a caller chose cannot add a pair, end its quotes or end its line",
        arguments: [
            ("x uid=0 [AdminServer] keyRevoked", #""x uid=0 [AdminServer] keyRevoked""#),
            (#"x" uid="0"#, #""x\" uid=\"0""#), ("x\nlevel=critical", #""x\nlevel=critical""#),
            (#"x\"#, #""x\\""#), ("", "\"\""), ("x\u{1B}[31m", #""x\u{1b}[31m""#),
            ("x\u{202E}y", #""x\u{202e}y""#), ("x\u{2028}y", #""x\u{2028}y""#), ("/usr/bin/curl", "/usr/bin/curl"),
        ])
    func hostile(program: String, expected: String) {
        #expect(line("request", ["program": "\(program)"]).hasSuffix(" message=request program=\(expected)\n"))
    }

    @Test func `a field with the name of a fixed field of the line gets a prefix`() {
        let line = line("request", ["level": "x", "time": "y", "message": "z"])
        #expect(line.contains("Z level=warning message=request field.level=x field.message=z field.time=y\n"))
    }
}
