import Glibc

/// Checks that other users cannot replace the program that a setting names. The daemon runs this program with its own
/// permissions, and gets the master key from it or gives it card data.
enum CommandCheck {
    private static let groupWrite: UInt32 = 0o020
    private static let othersWrite: UInt32 = 0o002
    /// In such a directory, as in `/tmp`, only a file's owner, the directory's owner and root can rename or remove the
    /// file.
    private static let sticky: UInt32 = 0o1000

    /// The limit of Linux, so that the check ends if symbolic links form a loop.
    private static let maximumLinks = 40

    /// Refuses the program if users other than root and the daemon's user can change it, or can replace it in its
    /// directory. If the program does not exist yet, checks the directories in which others could create it.
    ///
    /// - Parameters:
    ///   - program: an absolute path.
    ///   - setting: the name of the setting.
    static func run(_ program: String, setting: String, _ findings: inout PreparationFindings) {
        if let problem = problem(with: program) { findings.refuse("'\(setting)': \(problem)") }
    }

    /// - Returns: why other users can replace the program; nil if they cannot.
    static func problem(with program: String) -> String? {
        passedFiles(program).lazy.compactMap(problem(at:)).first
            .map { "other users can replace the program \(program): \($0)" }
    }

    /// - Returns: nil if only root and the daemon's user can change the file, directory or symbolic link, or if it
    ///   cannot be examined.
    private static func problem(at path: String) -> String? {
        guard let status = FileStatus(of: path) else { return nil }
        guard status.uid == 0 || status.uid == geteuid() else {
            return
                "\(path) belongs to uid \(status.uid); give it to root or the daemon's user (uid \(geteuid())) with 'chown'"
        }
        // The mode of a symbolic link has no effect. Who can replace the link depends on its directory, which is also
        // checked.
        let isProtected = status.kind == .directory && status.mode & sticky != 0 || status.kind == .symbolicLink
        guard status.mode & (groupWrite | othersWrite) != 0, !isProtected else { return nil }
        return "\(path) has mode 0\(String(status.mode, radix: 8)); run 'chmod go-w' on it"
    }

    /// Every directory and symbolic link through which the kernel reaches a file, and the file itself. Ends at the
    /// first name that does not exist.
    private static func passedFiles(_ path: String) -> [String] {
        var passed = ["/"]
        var directory: [Substring] = []
        var names = Array(path.split(separator: "/").reversed())
        var links = 0
        while let name = names.popLast() {
            if name == "." { continue }
            if name == ".." {
                _ = directory.popLast()
                continue
            }
            let file = "/" + (directory + [name]).joined(separator: "/")
            guard let status = FileStatus(of: file) else { break }
            passed.append(file)
            guard status.kind == .symbolicLink else {
                directory.append(name)
                continue
            }
            guard links < maximumLinks, let target = target(ofLink: file) else { break }
            links += 1
            if target.hasPrefix("/") { directory = [] }
            names += target.split(separator: "/").reversed()
        }
        return passed
    }

    private static func target(ofLink path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { text in
            let count = text.baseAddress.map { readlink(path, $0, text.count) } ?? -1
            guard count > 0, count < text.count else { return nil }
            return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
