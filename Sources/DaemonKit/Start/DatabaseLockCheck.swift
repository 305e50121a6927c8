import FoundationEssentials
import SQLiteStore

/// Finds another program that has locked a database file, so that the daemon could not write to it.
struct DatabaseLockCheck {
    /// How long a start waits for the lock.
    private static let longestWait = Duration.seconds(5)

    private let stateDirectory: String
    private let deadline = ContinuousClock.now + longestWait

    init(stateDirectory: String) { self.stateDirectory = stateDirectory }

    /// Waits for the end of the lock, at most as long as a start does. The calls for all files share this time.
    ///
    /// - Returns: the process that holds the lock, for messages; nil if no process holds it, or if the holder may be
    ///   the running daemon of the state directory.
    func holder(of path: String) async throws -> String? {
        while let process = otherHolder(of: path) {
            guard ContinuousClock.now < deadline else {
                return process == 0 ? "another process" : "the process \(process)"
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        return nil
    }

    private func otherHolder(of path: String) -> Int32? {
        guard let process = DatabaseInspection.writeLockHolder(of: path) else { return nil }
        // A running daemon locks the file during each commit.
        guard InstanceLock.isDirectoryLocked(stateDirectory) else { return process }
        return isDaemon(process) ? nil : process
    }

    /// Whether the process may be a daemon. Checks the name of the process, because the identifier in the lock file may
    /// belong to another PID namespace. Also true for a process without an identifier or name in this namespace.
    private func isDaemon(_ process: Int32) -> Bool {
        guard process != 0, let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else {
            return true
        }
        return name == "merchantkeyd\n"
    }
}
