import DaemonKit
import Foundation
import MerchantCore
import Testing
import Vocabulary

/// The file of shipped audit heads.
@Suite struct HeadFileTests {
    private let path = NSTemporaryDirectory() + "heads-\(UUID().uuidString)"
    private let head = Observations.head
    private let at = Observations.shippedAt

    private func withFile(_ content: Data? = nil, _ body: (HeadFile) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try content?.write(to: URL(filePath: path))
        try body(HeadFile(path: path))
    }

    @Test func `a file that is missing or empty holds no head`() throws {
        try withFile { (file: HeadFile) throws in #expect(try file.lastLine() == nil) }
        try withFile(Data()) { (file: HeadFile) throws in #expect(try file.lastLine() == nil) }
    }

    @Test func `the last head that was appended is read, with its time`() throws {
        try withFile { file in
            try file.append(Observations.base, at: at)
            try file.append(head, at: at)
            let last = try #require(try file.lastLine())
            #expect(last.head == head && last.at == at)
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.wholeMatch(of: /\S+Z \d+:[0-9a-f]{64}/) != nil })
        }
    }

    @Test(arguments: ["garbage\n", "<html>403</html>\n", "\n \n"])
    func `a file whose complete lines contain text but no head is refused`(content: String) throws {
        try withFile(Data(content.utf8)) { file in #expect(throws: SettingsError.self) { try file.lastLine() } }
    }

    @Test func `an incomplete line that a crash left is ignored, and the next head gets a new line`() throws {
        try withFile { file in
            try file.append(Observations.base, at: at)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("2026-11-2".utf8))
            try handle.close()
            #expect(try file.lastLine()?.head == Observations.base)
            try file.append(head, at: at)
            #expect(try file.lastLine()?.head == head)
        }
    }

    @Test func `zeros that a crash left hide no head, and a file that ends with over 70,000 zeros is refused`() throws {
        try withFile { file in
            try file.append(head, at: at)
            func append(_ count: Int) throws {
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(count: count))
                try handle.close()
            }
            try append(4096)
            #expect(try file.lastLine()?.head == head)
            try append(70_000)
            #expect(throws: SettingsError.self) { try file.lastLine() }
        }
    }
}
