import Glibc
package import Logging

/// The standard error of the process, to which the daemon writes its log.
package enum StandardError {
    /// Calls write(2) once for each line, so that lines of different threads do not mix.
    package static func write(_ line: String) {
        var line = line
        line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    /// Whether standard error is the stream that systemd connected with its journal.
    ///
    /// - Parameter environment: the environment variables. systemd sets `JOURNAL_STREAM` to the device and inode of the
    ///   stream. A comparison is necessary, because the variable is inherited although standard error may have been
    ///   redirected: systemd.exec(5).
    package static func isJournal(_ environment: [String: String]) -> Bool {
        guard let stream = environment["JOURNAL_STREAM"], let file = FileStatus(descriptor: STDERR_FILENO) else {
            return false
        }
        return stream == "\(file.device):\(file.inode)"
    }
}

extension Logger.Level {
    /// The prefix from which journald reads the priority of a line: sd-daemon(3). The numbers are those of syslog.
    package var journalPrefix: String {
        switch self {
        case .trace, .debug: "<7>"
        case .info: "<6>"
        case .notice: "<5>"
        case .warning: "<4>"
        case .error: "<3>"
        case .critical: "<2>"
        }
    }
}
