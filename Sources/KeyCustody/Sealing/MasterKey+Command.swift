import CLinux
import Glibc
package import MerchantCore
import Secrets
import Vocabulary

/// Reads a master key from the output of a program.
extension MasterKey {
    /// How many bytes of the program's standard error an error message contains at most.
    private static let longestErrorOutput = 1024

    /// Runs a program without a shell, and uses its standard output as the key.
    ///
    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments.
    ///   - seconds: after this time the program and its process group are killed.
    /// - Throws: `storeUnavailable` with the program's standard error. The program must exit with status 0 and print
    ///   exactly 32 raw bytes.
    package static func load(from arguments: [String], within seconds: Int) throws(MerchantError) -> MasterKey {
        let program = arguments.first ?? ""
        /// - Parameter predicate: the end of a sentence that begins with the program.
        func refusal(_ predicate: String, _ errorOutput: [UInt8] = []) -> MerchantError {
            // The message must be one line, and must contain no escape sequence for a terminal.
            let text = String(decoding: errorOutput, as: UTF8.self).split(whereSeparator: \.isNewline)
                .map { String($0.filter { $0.isASCII && !$0.isNewline && $0 != "\u{1B}" }) }.joined(separator: "; ")
            return MerchantError(
                .storeUnavailable,
                "the master key's command \(program) \(predicate)\(text.isEmpty ? "" : ": its error output: \(text)")")
        }
        guard var output = Pipe(), var errors = Pipe() else { throw refusal("cannot be run: \(lastError)") }
        let process: pid_t
        do throws(SpawnFailure) { process = try spawn(arguments, output.writer, errors.writer) } catch {
            throw refusal("cannot be run: \(String(cString: strerror(error.errorNumber)))")
        }
        output.closeWriter()
        errors.closeWriter()
        var errorOutput: [UInt8] = []
        var count = 0
        var isInTime = true
        // One byte more than the length of a key, to detect longer output.
        let printed = SecretBytes(count: length + 1) { memory in
            isInTime = collect(output.reader, errors.reader, within: seconds, memory, &count, &errorOutput)
        }
        var status: Int32 = 0
        if isInTime, count <= length {
            // The program may still run after it has closed both pipes, so it gets another `seconds` to exit.
            let end = ContinuousClock.now + .seconds(seconds)
            while waitpid(process, &status, WNOHANG) == 0, isInTime {
                isInTime = .now < end
                usleep(2000)
            }
        }
        if !isInTime || count > length {
            // Kill the whole process group, because if the program is a shell script, its children have the pipes open
            // too.
            kill(-process, SIGKILL)
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        guard isInTime else { throw refusal("did not exit within \(seconds.counted("second"))", errorOutput) }
        guard count <= length else {
            throw refusal(
                "printed more than \(length) bytes, expected exactly \(length) raw bytes without a line end",
                errorOutput)
        }
        // The status of wait(2): the low 7 bits are the signal that killed the program, the next byte is its exit
        // status.
        guard status & 0x7F == 0, (status >> 8) & 0xFF == 0 else {
            let end =
                status & 0x7F == 0
                ? "exited with status \((status >> 8) & 0xFF)" : "was killed by signal \(status & 0x7F)"
            throw refusal("\(end), expected exit status 0", errorOutput)
        }
        guard count == length else {
            throw refusal("printed \(count.counted("byte")), expected exactly \(length) raw bytes", errorOutput)
        }
        let bytes = printed.withUnsafeBytes { printed in
            SecretBytes(count: length) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: printed[..<length])) }
        }
        guard let key = MasterKey(bytes) else { throw refusal("printed no key") }
        return key
    }

    /// Reads both pipes until both are closed, the time is over, or the standard output is longer than a key.
    ///
    /// - Parameters:
    ///   - memory: receives the standard output; `count` is the number of bytes received.
    ///   - errorOutput: receives the first ``longestErrorOutput`` bytes of the standard error.
    /// - Returns: false if the time was over.
    private static func collect(
        _ output: Int32, _ errors: Int32, within seconds: Int, _ memory: UnsafeMutableRawBufferPointer,
        _ count: inout Int, _ errorOutput: inout [UInt8]
    ) -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        var pipes = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        ]
        var piece = [UInt8](repeating: 0, count: 1024)
        while pipes.contains(where: { $0.fd >= 0 }) {
            let remaining = (end - .now).components
            let milliseconds = remaining.seconds * 1000 + remaining.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return false }
            guard poll(&pipes, nfds_t(pipes.count), Int32(clamping: milliseconds)) >= 0 else {
                // After an error `revents` is not valid, so a read could block past the deadline.
                guard errno == EINTR else { return false }
                continue
            }
            if pipes[0].revents != 0 {
                let got = read(output, memory.baseAddress.map { $0 + count }, memory.count - count)
                if got > 0 { count += got } else if got == 0 || errno != EINTR { pipes[0].fd = -1 }
                guard count < memory.count else { return true }
            }
            if pipes[1].revents != 0 {
                let got = read(errors, &piece, piece.count)
                if got > 0 {
                    errorOutput += piece[..<got].prefix(max(0, longestErrorOutput - errorOutput.count))
                } else if got == 0 || errno != EINTR {
                    pipes[1].fd = -1
                }
            }
        }
        return true
    }

    private struct SpawnFailure: Error {
        let errorNumber: Int32
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - output: the descriptor that becomes the program's standard output.
    ///   - errors: the descriptor that becomes the program's standard error.
    private static func spawn(
        _ arguments: [String], _ output: Int32, _ errors: Int32
    ) throws(SpawnFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // The daemon's connections have no close-on-exec flag. The program must not inherit them, so every descriptor
        // above 2 is closed.
        _ = clinux_spawn_close_from(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program must not inherit the signals that this thread blocks, and that the daemon ignores, such as
        // SIGPIPE.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // The program gets a process group of its own, so that it can be killed together with its children.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETPGROUP))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, arguments.first ?? "", &actions, &attributes, &words, environ)
        guard failure == 0 else { throw SpawnFailure(errorNumber: failure) }
        return process
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}

/// The two ends of a pipe. They are closed when the value ends.
private struct Pipe: ~Copyable {
    let reader: Int32
    private(set) var writer: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (ends[0], ends[1])
    }

    mutating func closeWriter() {
        close(writer)
        writer = -1
    }

    deinit {
        close(reader)
        if writer >= 0 { close(writer) }
    }
}
