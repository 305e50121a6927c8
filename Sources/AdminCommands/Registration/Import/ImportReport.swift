import FoundationEssentials
import Glibc
import Synchronization
import Vocabulary

/// What became of each line of an import, appended as it happens: a repeated run reads it and skips what is done.
final class ImportReport: Sendable {
    enum Result: String, Sendable, CaseIterable {
        case done
        /// By the daemon or Apple; repeating it unchanged leads to the same.
        case refused
        /// May succeed another time.
        case failed
    }

    private static let largest = 512 << 20

    let path: String
    /// The values of every row that was done before.
    let doneBefore: Set<[String]>
    private let descriptor: Int32
    private let writing = Mutex(())

    /// Opens the report or makes it, and holds it for this run alone.
    ///
    /// - Throws: ``CommandFailure`` for a file that is no report, or that another run holds.
    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        do throws(CommandFailure) {
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw CommandFailure(.refused, "\(path) is held by another import, expected one at a time")
            }
            doneBefore = try Self.readDone(path, descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    func add(_ row: ImportRow, _ result: Result, code: String, detail: String) throws(CommandFailure) {
        let line = CSVText.line(row.values + [result.rawValue, code, detail, Timestamp(Date()).rfc3339])
        let code = writing.withLock { _ in Self.write(Array(line.utf8), descriptor) }
        guard code == 0 else { throw Self.failure(path, code) }
    }

    private static var header: [String] { ImportRow.Column.allCases.map(\.rawValue) + ImportRow.reportColumns }

    private static func readDone(_ path: String, _ descriptor: Int32) throws(CommandFailure) -> Set<[String]> {
        var bytes = try read(path, descriptor)
        // A run that was killed may have left a piece of a line.
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < bytes.count {
            guard ftruncate(descriptor, off_t(whole)) == 0 else { throw failure(path, errno) }
            bytes.removeSubrange(whole...)
        }
        guard !bytes.isEmpty else {
            let code = write(Array(CSVText.line(header).utf8), descriptor)
            guard code == 0 else { throw failure(path, code) }
            return []
        }
        let records: [CSVText.Record]
        do { records = try CSVText.records(of: bytes) } catch {
            throw CommandFailure(.refused, "\(path) is no report of an import: \(error)")
        }
        guard records.first?.fields == header else {
            throw CommandFailure(.refused, "\(path) is no report of an import, expected one or no file")
        }
        let columns = ImportRow.Column.allCases.count
        return Set(
            records.dropFirst().filter { $0.fields.count == header.count && $0.fields[columns] == Result.done.rawValue }
                .map { Array($0.fields[..<columns]) })
    }

    private static func read(_ path: String, _ descriptor: Int32) throws(CommandFailure) -> [UInt8] {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw failure(path, errno) }
        guard found.st_mode & S_IFMT == S_IFREG, found.st_size <= largest else {
            throw CommandFailure(.refused, "\(path) is no regular file of at most \(largest) bytes")
        }
        var bytes = [UInt8](repeating: 0, count: Int(found.st_size))
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count))
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure(path, errno) }
            guard more > 0 else { break }
            count += more
        }
        return Array(bytes[..<count])
    }

    /// - Returns: 0, or why not all was written.
    private static func write(_ bytes: [UInt8], _ descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    private static func failure(_ path: String, _ code: Int32) -> CommandFailure {
        CommandFailure(.refused, "can't use the report \(path): \(String(cString: strerror(code)))")
    }
}
