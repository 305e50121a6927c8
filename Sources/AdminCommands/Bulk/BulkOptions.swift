import ArgumentParser
import FoundationEssentials
import Glibc

/// The options of every subcommand with a bulk operation.
struct BulkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Append each item's result to this file, as JSON lines. An existing file must be a report of the same command.",
            discussion: "Default: a file whose name ends in .report.jsonl; the summary shows its path.",
            valueName: "file"), completion: .file())
    var report: String?

    @Option(help: ArgumentHelp("Run this many requests at the same time, 1 to 128.", valueName: "n"))
    var concurrency = 32

    func validate() throws {
        guard (1...128).contains(concurrency) else {
            throw ValidationError("--concurrency is \(concurrency), expected 1 to 128")
        }
    }

    /// Opens the report.
    ///
    /// - Parameter defaultPath: the path of the report if `--report` is not given.
    func openReport(of subcommand: String, defaultPath: String) throws(CommandFailure) -> BulkReport {
        try BulkReport(report ?? defaultPath, of: subcommand)
    }
}

/// A directory that a subcommand reads or writes.
struct Directory {
    let path: String

    static func exists(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
    }

    /// Creates the directory, or uses the existing one.
    ///
    /// - Throws: ``CommandFailure`` with the system's error message.
    init(creating path: String) throws(CommandFailure) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST && Self.exists(path) else {
            throw CommandFailure(.failed, "can't create the directory \(path): \(String(cString: strerror(errno)))")
        }
        self.path = path
    }

    /// The path of a file in the directory.
    func path(ofFile name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }
}
