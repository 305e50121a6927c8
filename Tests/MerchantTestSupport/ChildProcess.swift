import CLinux
import Foundation
import Glibc

/// A program that a test started.
///
/// Tests use this instead of `Process` of swift-corelibs-foundation, for three reasons: `Process` keeps the pipes of a
/// program open after its end; with more than about 1350 open descriptors it reads past the end of a directory entry
/// and crashes (swift-corelibs-foundation, pull request 5472); and it notices the end of a program up to 50 ms late.
package final class ChildProcess: @unchecked Sendable {
    // Proof for @unchecked Sendable: `ended` is used only while the lock is held; all else is immutable.

    /// Where standard output or standard error goes.
    package enum Output {
        case discarded
        /// A file, created or emptied.
        case file(String)
        case descriptor(Int32)
    }

    /// Where standard input comes from.
    package enum Input {
        case empty
        case file(String)
        case descriptor(Int32)
    }

    /// How a program ended.
    package enum End: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)

        /// The exit status, or the number of the signal that ended the program.
        package var status: Int32 {
            switch self {
            case .exited(let status): status
            case .signalled(let signal): signal
            }
        }
    }

    package let id: Int32
    private let lock = NSLock()
    private var ended: End?

    /// Starts a program, which gets no descriptors but the three standard ones.
    /// - Parameters:
    ///   - command: the program, searched in PATH unless it contains a slash, and its arguments.
    ///   - environment: the whole environment; nil for ``inheritedEnvironment``.
    ///   - directory: the program's working directory; nil for this process's own.
    /// - Throws: `POSIXError` if the program cannot be started.
    package init(
        _ command: [String], input: Input = .empty, output: Output = .discarded, error: Output = .discarded,
        environment: [String: String]? = nil, directory: String? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Files are opened before the program changes its directory, so that paths are relative to the caller's
        // directory.
        switch input {
        case .empty: posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        case .file(let path): posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, path, O_RDONLY, 0)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        }
        for (stream, number) in [(output, STDOUT_FILENO), (error, STDERR_FILENO)] {
            switch stream {
            case .discarded: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
            case .file(let path):
                // O_APPEND lets both streams share one file.
                posix_spawn_file_actions_addopen(
                    &actions, number, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            }
        }
        if let directory { clinux_spawn_change_directory(&actions, directory) }
        clinux_spawn_close_from(&actions, STDERR_FILENO + 1)
        id = try Self.spawn(command, environment ?? Self.inheritedEnvironment, &actions)
    }

    /// This process's environment without all variables `MERCHANTKEYD_…`, such as `MERCHANTKEYD_FIXTURES`: the daemon
    /// refuses to start with such a variable if it is not a setting.
    package static var inheritedEnvironment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MERCHANTKEYD_") }
    }

    private static func spawn(
        _ command: [String], _ environment: [String: String], _ actions: inout posix_spawn_file_actions_t
    ) throws -> pid_t {
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        // Signals that the test runner blocks or ignores would otherwise be blocked or ignored in the program too.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var id: pid_t = 0
        let failure = posix_spawnp(&id, command[0], &actions, &attributes, &arguments, &variables)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EINVAL) }
        return id
    }

    package var isRunning: Bool { reap(WNOHANG) == nil }

    /// Blocks this thread until the program has ended.
    @discardableResult
    package func wait() -> End { reap(0) ?? .exited(-1) }

    /// Sends a signal, unless the end of the program is known: its identifier may then belong to another process.
    package func signal(_ number: Int32) {
        lock.withLock {
            if ended == nil { kill(id, number) }
        }
    }

    /// Kills the program and waits for its end.
    package func killAndWait() {
        signal(SIGKILL)
        wait()
    }

    private func reap(_ options: Int32) -> End? {
        if options == 0 { waitWithoutReaping() }
        return lock.withLock {
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(id, &status, WNOHANG) == id else { return nil }
            // WIFEXITED, WEXITSTATUS and WTERMSIG, whose macros Swift can't read.
            ended = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f)
            return ended
        }
    }

    /// Waits without the lock until the program has ended, so that another thread can call ``signal(_:)`` meanwhile.
    private func waitWithoutReaping() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }
}
