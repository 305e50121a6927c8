import FoundationEssentials
import Glibc
import Vocabulary

/// The report file of a bulk operation. It has a header line and then one JSON line for each recorded result, written
/// as soon as the item was handled. A later run appends its results to the same file.
///
/// Only one task may use a report. While a run has the file open, a second run with the same file is refused.
final class BulkReport {
    /// The largest report that a run reads and continues, in bytes.
    static let sizeLimit = 1 << 30

    /// The first line of a report. The program never writes to a file that has another first line.
    private struct Header: Codable {
        static let kind = "merchantkeyctl bulk operation"

        /// Always ``kind``. The program recognizes its reports by this value.
        let report: String
        let subcommand: String
        let version: Int
    }

    /// What a run needs to know about an item that an earlier run finished without a failure.
    struct EarlierResult: Sendable {
        /// The key pair of the item; nil if the report does not name one.
        let publicKeyHash: PublicKeyHash?
    }

    let path: String
    private let descriptor: Int32
    private let subcommand: String
    private var earlierResults: [ItemKey: EarlierResult] = [:]

    private struct ItemKey: Hashable {
        let item: String
        let content: String
    }

    /// Opens an existing report, or creates a new one.
    ///
    /// - Throws: ``CommandFailure`` if the file cannot be read or written, is larger than ``sizeLimit``, is in use by
    ///   another run, or is not a report of this subcommand. In these cases, an existing file is not changed.
    init(_ path: String, of subcommand: String) throws(CommandFailure) {
        self.path = path
        self.subcommand = subcommand
        // O_NONBLOCK: opening a device or named pipe must not wait. The type of the file is checked below.
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "can't write the report \(path): \(String(cString: strerror(errno)))")
        }
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type]
        guard type as? FileAttributeType == .typeRegular else {
            throw CommandFailure(
                .failed, "can't use \(path) as the report: it is not a regular file; name another file with --report")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandFailure(
                .failed,
                "can't use the report \(path): another run is writing it; wait until that run has ended, or name another file with --report"
            )
        }
        let bytes = try readAll()
        if bytes.isEmpty {
            try write(line: Header(report: Header.kind, subcommand: subcommand, version: 1))
        } else {
            try parse(bytes)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The last result of an item in earlier runs; nil if there is none with the same content, or if the last result is
    /// a failure.
    func earlierResult(_ item: some BulkItem) -> EarlierResult? {
        earlierResults[ItemKey(item: item.name, content: item.content)]
    }

    func add(_ record: BulkRecord) throws(CommandFailure) { try write(line: record) }

    /// Syncs the report to stable storage. Ignores an error: if a line is lost, the next run only repeats the item of
    /// this line.
    func sync() { fsync(descriptor) }

    private func write(line: some Encodable) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard var bytes = try? encoder.encode(line) else {
            throw CommandFailure(.failed, "a line of the report \(path) can't be encoded as JSON")
        }
        bytes.append(UInt8(ascii: "\n"))
        let code = bytes.write(to: descriptor)
        guard code == 0 else {
            throw CommandFailure(.failed, "can't write the report \(path): \(String(cString: strerror(code)))")
        }
    }

    private func readAll() throws(CommandFailure) -> Data {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            guard count >= 0 else {
                throw CommandFailure(.failed, "can't read the report \(path): \(String(cString: strerror(errno)))")
            }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= Self.sizeLimit else {
                throw CommandFailure(
                    .failed,
                    "can't use the report \(path): it has more than \(Self.sizeLimit) bytes; name another file with --report"
                )
            }
        }
    }

    /// Reads the results of earlier runs from the report's content.
    private func parse(_ bytes: Data) throws(CommandFailure) {
        let decoder = JSONDecoder()
        guard let headerEnd = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let header = try? decoder.decode(Header.self, from: bytes[..<headerEnd]), header.report == Header.kind,
            header.version == 1
        else {
            throw unusable("its first line is not the header of a report")
        }
        guard header.subcommand == subcommand else {
            throw unusable("it is the report of '\(header.subcommand)'")
        }
        // A run that was killed may leave an incomplete line at the end. That line is ignored, and removed below.
        let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? headerEnd) + 1
        for (index, line) in bytes[(headerEnd + 1)..<end].split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let record = try? decoder.decode(BulkRecord.self, from: line) else {
                throw unusable("its result number \(index + 1) can't be parsed")
            }
            let key = ItemKey(item: record.item, content: record.content)
            // If an item has several lines, the last one applies. If that line is a failure, the item is not finished.
            earlierResults[key] =
                record.outcome == .failed
                ? nil
                : EarlierResult(
                    publicKeyHash: record.result?["publicKeyHash"].flatMap { PublicKeyHash(anySpelling: $0) })
        }
        guard end == bytes.endIndex || ftruncate(descriptor, off_t(end)) == 0 else {
            throw CommandFailure(.failed, "can't write the report \(path): \(String(cString: strerror(errno)))")
        }
    }

    private func unusable(_ why: String) -> CommandFailure {
        CommandFailure(
            .failed,
            "can't use \(path) as the report of '\(subcommand)': \(why); the file was not changed; name another file with --report"
        )
    }
}
