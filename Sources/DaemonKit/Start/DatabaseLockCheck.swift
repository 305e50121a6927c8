import SQLiteStore

/// Finds another program that has locked a database file, so that the daemon could not write to it.
struct DatabaseLockCheck {
    /// How long a start waits for the lock.
    private static let longestWait = Duration.seconds(5)

    let stateDirectory: String

    /// Waits for the end of the lock as long as a start does.
    ///
    /// - Returns: the process that holds the lock, for messages; nil if no process other than the daemon of the state
    ///   directory holds it.
    func holder(of path: String) async throws -> String? {
        let deadline = ContinuousClock.now + Self.longestWait
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
        // A running daemon locks the file during each commit. In another namespace it has no identifier here.
        guard let daemon = InstanceLock.holder(ofDirectory: stateDirectory) else { return process }
        return process == daemon || process == 0 ? nil : process
    }
}
