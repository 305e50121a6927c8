import FoundationEssentials
import Glibc

/// The report file of a run: JSON lines, each written whole as soon as its item is done. A later run goes by it.
///
/// Used by one task; a second run on the same file is refused.
final class BulkReport {
    /// The longest report that is read.
    static let largest = 1 << 30

    let path: String
    private let descriptor: Int32
    private let verb: String
    /// Items that need nothing more, with their content.
    private var finished: Set<Key> = []

    private struct Key: Hashable {
        let item: String
        let content: String
    }

    /// Opens the report, or makes it.
    ///
    /// - Throws: ``CommandFailure`` where it cannot be written, is in use, or is another verb's.
    init(_ path: String, of verb: String) throws(CommandFailure) {
        self.path = path
        self.verb = verb
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.refused, "can't write the report \(path): \(String(cString: strerror(errno)))")
        }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.refused, "\(path) is no regular file, expected a report or a new name")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure(.refused, "the report \(path) is in use by another run, expected it to have ended")
        }
        try readBack()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func isFinished(_ item: some BulkItem) -> Bool {
        finished.contains(Key(item: item.name, content: item.content))
    }

    func add(_ record: BulkRecord) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? encoder.encode(record) else {
            throw CommandFailure(.refused, "a line of the report \(path) can't be written as JSON")
        }
        line.append(UInt8(ascii: "\n"))
        try write(line)
    }

    /// Returns once all of it is on stable storage.
    func sync() { fsync(descriptor) }

    private func write(_ bytes: Data) throws(CommandFailure) {
        let code = bytes.write(to: descriptor)
        guard code == 0 else {
            throw CommandFailure(.refused, "can't write the report \(path): \(String(cString: strerror(code)))")
        }
    }

    private func readBack() throws(CommandFailure) {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            guard count >= 0 else {
                throw CommandFailure(.refused, "can't read the report \(path): \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= Self.largest else {
                throw CommandFailure(.refused, "the report \(path) holds more than \(Self.largest) bytes")
            }
        }
        let decoder = JSONDecoder()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let record = try? decoder.decode(BulkRecord.self, from: line) else {
                // A killed run leaves half a line at the end of the file; anything else is no report.
                guard line.endIndex == bytes.endIndex else {
                    throw CommandFailure(.refused, "\(path) is no report of '\(verb)', expected one or a new name")
                }
                guard ftruncate(descriptor, off_t(line.startIndex - bytes.startIndex)) == 0 else {
                    throw CommandFailure(
                        .refused, "can't write the report \(path): \(String(cString: strerror(errno)))")
                }
                continue
            }
            guard record.verb == verb else {
                throw CommandFailure(.refused, "\(path) is a report of '\(record.verb)', expected one of '\(verb)'")
            }
            let key = Key(item: record.item, content: record.content)
            if record.outcome == .failed { finished.remove(key) } else { finished.insert(key) }
        }
    }
}
