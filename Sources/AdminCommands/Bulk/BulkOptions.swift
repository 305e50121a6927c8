import ArgumentParser
import Glibc

/// The options of every bulk operation.
struct BulkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Append each item's result to this report, as JSON lines. An existing file must be a report of the same command.",
            valueName: "file"))
    var report: String?

    @Option(help: ArgumentHelp("How many are done at the same time, 1 to 128.", valueName: "n"))
    var concurrency = 32

    func validate() throws {
        guard (1...128).contains(concurrency) else {
            throw ValidationError("--concurrency is \(concurrency), expected 1 to 128")
        }
    }

    /// - Parameter standard: the report's path unless another one was asked for.
    func open(_ subcommand: String, standard: String) throws(CommandFailure) -> BulkReport {
        try BulkReport(report ?? standard, of: subcommand)
    }
}

/// A directory that a verb reads from or writes to.
struct Directory {
    let path: String

    /// Whether there is a directory of this name.
    static func isThere(_ path: String) -> Bool {
        var found = stat()
        return stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// Makes it where it is missing.
    ///
    /// - Throws: ``CommandFailure`` with the system's own word for what is wrong.
    init(making path: String) throws(CommandFailure) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST && Self.isThere(path) else {
            throw CommandFailure(.refused, "can't make the directory \(path): \(String(cString: strerror(errno)))")
        }
        self.path = path
    }

    func file(_ name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }
}
