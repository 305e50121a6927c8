import DaemonKit
import Foundation
import Glibc
import Logging
import Synchronization
import Testing

@Suite struct JSONLogFormTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private func line(
        _ message: Logger.Message, _ metadata: Logger.Metadata, level: Logger.Level = .warning,
        marksPriority: Bool = false
    ) -> String {
        let lines = Lines()
        var logger = Logger(label: "test") { _ in
            LineLogHandler(.json, marksPriority: marksPriority) { line in lines.all.withLock { $0.append(line) } }
        }
        logger.logLevel = .trace
        logger.log(level: level, message, metadata: metadata)
        let all = lines.all.withLock { $0 }
        #expect(all.count == 1)
        return all.first ?? ""
    }

    private func decoded(_ line: String) throws -> [String: String] {
        #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n"))
        return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    }

    @Test func `a line is one JSON object with time, level, message and the metadata`() throws {
        let members = try decoded(line("request forbidden", ["uid": "1001", "path": "/v1/keys/{publicKeyHash}"]))
        #expect(members["level"] == "warning" && members["message"] == "request forbidden")
        #expect(members["uid"] == "1001" && members["path"] == "/v1/keys/{publicKeyHash}")
        #expect(members["time"]?.hasSuffix("Z") == true && members.count == 5)
    }

    @Test(arguments: [
        #"x","uid":"0"#, "x\nlevel", "x\r\ny", #"\"#, "", "x\u{1B}[31m", "x\u{202E}y", "x\u{2028}y", "x\u{0}y", "é",
        "😀",
        "x\u{10FFFD}y",
    ])
    func `every value survives unchanged, and adds no member and no line`(value: String) throws {
        let members = try decoded(line("request", ["program": "\(value)"]))
        #expect(members["program"] == value && members.count == 4)
    }

    @Test(arguments: ["\u{1B}", "\u{202E}", "\u{2028}", "\u{7F}", "\u{9B}", "\u{E0001}"])
    func `a character that could mislead a terminal is escaped`(character: String) {
        #expect(!line("request", ["program": "x\(character)y"]).contains(character))
    }

    @Test func `a field with the name of a fixed member of the line gets a prefix`() throws {
        let members = try decoded(line("request", ["level": "x", "time": "y", "message": "z"]))
        #expect(members["level"] == "warning" && members["message"] == "request")
        #expect(members["field.level"] == "x" && members["field.time"] == "y" && members["field.message"] == "z")
    }

    @Test func `the field error keeps its name, unless the event has an error of its own`() throws {
        #expect(try decoded(line("request", ["error": "a reason"]))["error"] == "a reason")
        let lines = Lines()
        let handler = LineLogHandler(.json) { line in lines.all.withLock { $0.append(line) } }
        handler.log(
            event: LogEvent(
                level: .error, message: "request", error: CancellationError(), metadata: ["error": "a reason"],
                source: nil, file: "", function: "", line: 0))
        let members = try decoded(lines.all.withLock { $0.first ?? "" })
        #expect(members["field.error"] == "a reason" && members["error"] == "CancellationError()")
    }

    @Test(arguments: [
        (Logger.Level.trace, "<7>"), (Logger.Level.debug, "<7>"), (Logger.Level.info, "<6>"),
        (Logger.Level.notice, "<5>"), (Logger.Level.warning, "<4>"), (Logger.Level.error, "<3>"),
        (Logger.Level.critical, "<2>"),
    ])
    func `a line for the journal begins with its priority`(level: Logger.Level, prefix: String) {
        #expect(line("request", [:], level: level, marksPriority: true).hasPrefix("\(prefix){\"time\":"))
    }

    @Test func `standard error is the journal only if JOURNAL_STREAM names it`() {
        var found = stat()
        #expect(fstat(STDERR_FILENO, &found) == 0)
        #expect(StandardError.isJournal(["JOURNAL_STREAM": "\(found.st_dev):\(found.st_ino)"]))
        #expect(!StandardError.isJournal(["JOURNAL_STREAM": "\(found.st_dev):\(found.st_ino + 1)"]))
        #expect(!StandardError.isJournal(["JOURNAL_STREAM": ""]))
        #expect(!StandardError.isJournal([:]))
    }
}
