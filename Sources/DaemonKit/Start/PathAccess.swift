import Glibc

/// What this process may do with files and directories, by its effective user.
enum PathAccess {
    /// Whether the process may do this with the file or directory, see faccessat(2). If not, `errno` has the reason.
    ///
    /// - Parameter mode: `R_OK`, `W_OK` or `X_OK`, or several of them.
    static func allows(_ mode: CInt, _ path: String) -> Bool { faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 }

    /// - Returns: why the process cannot create a file in the directory, as the end of a sentence whose subject is the
    ///   directory; nil if it can.
    static func whyNothingCanBeCreated(in directory: String) -> String? {
        guard let found = FileStatus(of: directory, followsLinks: true) else {
            return errno == ENOENT ? "does not exist; create it" : "cannot be examined: \(lastError)"
        }
        guard found.kind == .directory else { return "is not a directory" }
        guard allows(W_OK | X_OK, directory) else {
            return "is not writable for the daemon's user (uid \(geteuid())): \(lastErrorAndRemedy)"
        }
        return nil
    }

    /// The directory that contains a file: `/` for `/file`, `.` for `file`.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Whether two paths name the same file in the same directory. The directory can have several names.
    static func isSamePlace(_ one: String, _ other: String) -> Bool {
        guard one != other else { return true }
        guard one.split(separator: "/").last == other.split(separator: "/").last,
            let directory = FileStatus(of: Self.directory(of: one), followsLinks: true),
            let otherDirectory = FileStatus(of: Self.directory(of: other), followsLinks: true)
        else { return false }
        return directory.isSameFile(as: otherDirectory)
    }

    static var lastError: String { String(cString: strerror(errno)) }

    /// ``lastError``, and what to do if this process lacks a permission.
    static var lastErrorAndRemedy: String {
        switch errno {
        case EACCES:
            "\(lastError); the daemon's user (uid \(geteuid())) must have access to the file and be able to enter its directories"
        case EROFS:
            "\(lastError); if systemd starts the daemon, name the directory in ReadWritePaths= of its unit"
        default: lastError
        }
    }
}
