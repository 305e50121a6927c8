import Glibc

/// The checks of files, sockets, disk space and process limits.
extension Diagnosis {
    mutating func checkDirectory() {
        guard let found = FileStatus(of: settings.stateDirectory, followsLinks: true) else {
            return note("state directory", .failure, "\(settings.stateDirectory): \(Self.lastError)")
        }
        guard found.kind == .directory else {
            return note("state directory", .failure, "\(settings.stateDirectory) is not a directory")
        }
        let mode = found.mode
        let isOwnedByThisUser = found.uid == geteuid()
        let remedy =
            mode & 0o077 != 0
            ? "; run 'chmod 0700' on it"
            : isOwnedByThisUser
                ? ""
                : "; this command runs as uid \(geteuid()): run it as the daemon's user, or run 'chown' on the directory"
        note(
            "state directory", remedy.isEmpty ? .success : .failure,
            "\(settings.stateDirectory), mode \(Self.octal(mode)), uid \(found.uid)\(remedy)")
    }

    /// - Returns: the process identifier of the running daemon, or "unknown" if its lock file was moved away, cannot be
    ///   opened or does not name a process; nil if no running daemon was found.
    mutating func checkDaemon() -> String? {
        let file = open(settings.lockPath, O_RDONLY | O_CLOEXEC)
        // Stored now, because the calls below overwrite errno.
        let openError = errno
        defer { if file >= 0 { close(file) } }
        let isDirectoryLocked = InstanceLock.isDirectoryLocked(settings.stateDirectory)
        guard file >= 0 || openError == ENOENT else {
            note(
                "daemon", .failure,
                "\(isDirectoryLocked ? "a daemon runs with the state directory \(settings.stateDirectory), but its lock file" : "the lock file") \(settings.lockPath) cannot be opened: \(String(cString: strerror(openError))); check the file's type, mode and owner"
            )
            return isDirectoryLocked ? "unknown" : nil
        }
        // A daemon locks the directory and the lock file. So if only the directory is locked, the daemon's lock file
        // was moved away.
        if isDirectoryLocked, file < 0 || flock(file, LOCK_SH | LOCK_NB) == 0 {
            note(
                "daemon", .failure,
                "a daemon runs with the state directory \(settings.stateDirectory), but its lock file \(settings.lockPath) was moved or replaced; move the original file back (a copy does not work). If the file was deleted, restart the daemon, which creates a new file"
            )
            return "unknown"
        }
        guard file >= 0 else {
            let hasRun = access(settings.databasePath, F_OK) == 0
            note(
                "daemon", .warning,
                hasRun
                    ? "no daemon runs with the state directory \(settings.stateDirectory); the lock file \(settings.lockPath), which records how the last daemon stopped, is missing: put the file back if you have it; otherwise the next start creates a new file, but may not detect lost changes"
                    : "no daemon has run with the state directory \(settings.stateDirectory) yet")
            return nil
        }
        // If this process gets the lock, no daemon holds it.
        guard flock(file, LOCK_SH | LOCK_NB) != 0 else {
            note("daemon", .warning, "no daemon runs with the state directory \(settings.stateDirectory)")
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = max(0, pread(file, &bytes, bytes.count, 0))
        let processIdentifier =
            String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "unknown"
        note("daemon", .success, "process \(processIdentifier)")
        return processIdentifier
    }

    /// Checks the type, the mode and the owner of a file.
    ///
    /// - Parameters:
    ///   - isRequired: whether a missing file is a failure instead of a warning.
    ///   - mayBelongToRoot: whether the daemon accepts a file that belongs to root. The daemon accepts this for a
    ///     master key, but not for a database.
    mutating func checkFile(
        _ name: String, _ path: String, isRequired: Bool, mayBelongToRoot: Bool = false, followsLinks: Bool = false
    ) {
        guard let found = FileStatus(of: path, followsLinks: followsLinks) else {
            guard errno == ENOENT, !isRequired else { return note(name, .failure, "\(path): \(Self.lastError)") }
            return note(name, .warning, "\(path) does not exist yet")
        }
        let mode = found.mode
        let directoryOwner = FileStatus(of: settings.stateDirectory, followsLinks: true)?.uid ?? found.uid
        guard found.kind == .regular else {
            return note(
                name, .failure, "\(path) is not a regular file; put the file itself there, not a link or directory")
        }
        guard mode & 0o077 == 0 else {
            return note(
                name, .failure,
                "\(path) has mode \(Self.octal(mode)), so other users can access it; run 'chmod 0600' on it")
        }
        guard found.uid == directoryOwner || (mayBelongToRoot && found.uid == 0) else {
            return note(
                name, .failure,
                "\(path) belongs to uid \(found.uid), but the state directory to uid \(directoryOwner); run 'chown' on the file"
            )
        }
        note(name, .success, "\(path), mode \(Self.octal(mode)), uid \(found.uid)")
    }

    mutating func checkSocket(_ name: String, _ socket: SocketSettings, isDaemonRunning: Bool) {
        guard let found = FileStatus(of: socket.path) else {
            // Without a running daemon, a missing socket is normal, but nobody can connect.
            let reason = "\(socket.path): \(Self.lastError)"
            return note(
                name, isDaemonRunning ? .failure : .warning,
                isDaemonRunning
                    ? "\(reason); restart the daemon, and its socket units if systemd opened the socket"
                    : "\(reason), because no daemon runs")
        }
        guard found.kind == .socket else {
            return note(name, .failure, "\(socket.path) is not a socket; remove it and restart the daemon")
        }
        let mode = found.mode & 0o777
        let hasConfiguredMode = mode == socket.mode
        let remedy =
            isDaemonRunning ? "restart the daemon to set the mode" : "the next start of the daemon sets the mode"
        note(
            name, hasConfiguredMode || !isDaemonRunning ? .success : .warning,
            "\(socket.path), mode \(Self.octal(mode))\(hasConfiguredMode ? "" : ", expected \(Self.octal(socket.mode)); \(remedy)")"
        )
    }

    /// Finds out whether the running daemon responds.
    ///
    /// - Parameter process: what ``checkDaemon()`` returned.
    mutating func checkResponse(of process: String) {
        // The daemon writes the source of the master key into the lock file when it has opened the database.
        guard InstanceLock.masterKeySource(inDirectory: settings.stateDirectory) != nil else {
            return note(
                Self.responseCheck, .warning,
                "the process \(process) is starting: it reads the master key or opens the database")
        }
        let path = settings.decryptorSocket.path
        switch HealthProbe(socketPath: path, longestWait: .seconds(5)).run() {
        case .status(503):
            note(
                Self.responseCheck, .warning,
                "503 on \(path): the daemon is not ready; 'merchantkeyctl status' says why")
        case .status(let status): note(Self.responseCheck, .success, "\(status) on \(path)")
        case .none(let reason):
            note(
                Self.responseCheck, .failure,
                "the process \(process) does not respond on \(path): \(reason); restart the daemon. If another process has stopped it (state T in 'ps'), 'kill -CONT' continues it"
            )
        }
    }

    /// Applies the limits of the finding `diskNearlyFull`.
    mutating func checkSpace(_ name: String, _ directory: String) {
        guard let space = DiskSpace(of: directory) else {
            return note(name, .failure, "\(directory): \(Self.lastError)")
        }
        guard !space.isReadOnly else {
            return note(name, .failure, "\(directory) is on a read-only file system; mount the file system for writing")
        }
        let outcome: Outcome =
            switch space.level {
            case .sufficient: .success
            case .low: .warning
            case .nearlyFull: .failure
            }
        note(
            name, outcome,
            space.shortage(in: directory) ?? "\(space.free >> 20) MiB are free on the file system of \(directory)")
    }

    /// Checks the limits of the running daemon's process.
    ///
    /// - Parameter process: what ``checkDaemon()`` returned. Checks nothing if this is nil or "unknown".
    mutating func checkProcess(_ process: String?) {
        guard let process, let limits = Self.limits(of: process) else { return }
        if let core = limits["Max core file size"] {
            note(
                "core dumps", core == "0" ? .success : .failure,
                core == "0" ? "disabled" : "enabled, up to \(core) bytes: a dump would contain keys; set LimitCORE=0")
        }
        if let locked = Self.lockedMemory(of: process) {
            note(
                "locked memory", locked > 0 ? .success : .warning,
                locked > 0
                    ? "\(locked) KiB: the master key and data keys are not written to swap"
                    : "none: keys may be written to swap; raise LimitMEMLOCK or disable swap")
        }
        if let files = limits["Max open files"], let count = Int(files) {
            note(
                "open files", count >= 4096 ? .success : .warning,
                "at most \(count)\(count >= 4096 ? "" : "; set LimitNOFILE to at least 4096")")
        }
    }

    /// The soft limits of a process, by their names in `/proc/PID/limits`, see proc(5).
    private static func limits(of process: String) -> [String: String]? {
        guard let file = fopen("/proc/\(process)/limits", "r") else { return nil }
        defer { fclose(file) }
        var limits: [String: String] = [:]
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // The first 26 columns contain the name.
            limits[String(text.prefix(26)).trimmed] =
                text.dropFirst(26).split(separator: " ").first.map(String.init)
        }
        return limits
    }

    /// How much memory a process has locked, in KiB: `VmLck` in `/proc/PID/status`, see proc(5).
    private static func lockedMemory(of process: String) -> Int? {
        guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmLck:") else { continue }
            return text.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        }
        return nil
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}

extension String {
    fileprivate var trimmed: String {
        split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }
}
