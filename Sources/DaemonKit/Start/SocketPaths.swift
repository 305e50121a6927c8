import Glibc
import LocalSocket

/// Checks the paths of the admin socket and of the decryptor socket, before the daemon creates a file.
struct SocketPaths {
    private let settings: Settings
    private let sockets: [(name: String, path: String)]

    init(_ settings: Settings) {
        self.settings = settings
        sockets = [("admin", settings.adminSocket.path), ("decryptor", settings.decryptorSocket.path)]
    }

    func check(_ findings: inout PreparationFindings) {
        for (name, path) in sockets {
            if let problem = UnixListener.problem(withPath: path) {
                findings.refuse("'sockets.\(name).path': \(problem)")
                continue
            }
            let directory = PathAccess.directory(of: path)
            // A start creates a missing state directory.
            let isCreatedByStart =
                directory == settings.stateDirectory && FileStatus(of: directory, followsLinks: true) == nil
            if !isCreatedByStart, let reason = PathAccess.whyNothingCanBeCreated(in: directory) {
                findings.refuse("'sockets.\(name).path': the directory \(directory) \(reason)")
            }
        }
        if let first = sockets.first, sockets.dropFirst().allSatisfy({ isSamePlace($0.path, first.path) }) {
            findings.refuse(
                "'sockets.admin.path' and 'sockets.decryptor.path' are the same file \(first.path); set two different paths"
            )
        }
    }

    /// - Throws: ``SettingsError`` if a process listens on one of the sockets already.
    func requireFree() throws {
        let problems = sockets.filter { UnixListener.isListenedOn($0.path) }.map { name, path in
            "'sockets.\(name).path': another process listens on \(path); give each daemon its own path"
        }
        if !problems.isEmpty { throw SettingsError(problems: problems) }
    }

    /// Whether two paths name the same file in the same directory.
    private func isSamePlace(_ one: String, _ other: String) -> Bool {
        guard one != other else { return true }
        guard one.split(separator: "/").last == other.split(separator: "/").last,
            let directory = FileStatus(of: PathAccess.directory(of: one), followsLinks: true),
            let otherDirectory = FileStatus(of: PathAccess.directory(of: other), followsLinks: true)
        else { return false }
        return directory.isSameFile(as: otherDirectory)
    }
}
