import CLinux
import Glibc
package import Secrets

/// Runs a program without a shell, and collects what it prints.
///
/// The program gets its input on standard input, so that the input does not appear in the list of processes. It runs in
/// a process group of its own, with the daemon's environment, and inherits no descriptor of the daemon except the pipes
/// of its standard input, output and error.
package struct ChildProgram: Sendable {
    /// How many bytes of the program's standard error are kept.
    package static let longestErrorOutput = 1024

    private let arguments: [String]
    private let timeLimit: Duration
    private let largestOutput: Int

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments.
    ///   - timeLimit: after this time the program and its process group are killed. A program that has closed its
    ///     standard output and standard error gets this time again to exit.
    ///   - largestOutput: how many bytes the program may print on standard output. A program that prints more is
    ///     killed.
    package init(_ arguments: [String], within timeLimit: Duration, largestOutput: Int) {
        self.arguments = arguments
        self.timeLimit = timeLimit
        self.largestOutput = largestOutput
    }

    /// Runs the program to its end. Its standard input is empty. Blocks the thread.
    package func run() throws(ChildProgramFailure) -> ChildProgramOutput {
        try run(feeding: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Runs the program to its end. Blocks the thread. The program may exit without reading its input.
    package func run(input: borrowing SecretBytes) throws(ChildProgramFailure) -> ChildProgramOutput {
        try input.withUnsafeBytes { (bytes) throws(ChildProgramFailure) -> ChildProgramOutput in
            try run(feeding: bytes)
        }
    }

    private func run(feeding input: UnsafeRawBufferPointer) throws(ChildProgramFailure) -> ChildProgramOutput {
        guard var standardInput = Pipe(), var output = Pipe(), var errors = Pipe() else {
            throw ChildProgramFailure(.notStarted(errorNumber: errno))
        }
        let process: pid_t
        do throws(SpawnFailure) {
            process = try spawn(standardInput.reader, output.writer, errors.writer)
        } catch {
            throw ChildProgramFailure(.notStarted(errorNumber: error.errorNumber))
        }
        standardInput.closeReader()
        output.closeWriter()
        errors.closeWriter()
        var streams = ProgramStreams(input: input, errorLimit: Self.longestErrorOutput)
        var isInTime = true
        // One byte more than the largest output, to detect longer output.
        let printed = SecretBytes(count: largestOutput + 1) { memory in
            isInTime = streams.transfer(
                to: &standardInput, from: output.reader, errors.reader, until: .now + timeLimit, memory)
        }
        // A program that has closed its output may still wait for the end of its input.
        standardInput.closeWriter()
        let isTooLong = streams.outputCount > largestOutput
        var status: Int32 = 0
        if isInTime, !isTooLong {
            // The program may still run after it has closed both pipes, so it gets the time limit again to exit.
            let end = ContinuousClock.now + timeLimit
            while waitpid(process, &status, WNOHANG) == 0, isInTime {
                isInTime = .now < end
                usleep(2000)
            }
        }
        if !isInTime || isTooLong {
            // Kill the whole process group, because if the program is a shell script, its children have the pipes open
            // too.
            kill(-process, SIGKILL)
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        guard isInTime else { throw ChildProgramFailure(.timedOut, streams.errorOutput) }
        guard !isTooLong else { throw ChildProgramFailure(.outputTooLong, streams.errorOutput) }
        // The status of wait(2): the low 7 bits are the signal that killed the program, the next byte is its exit
        // status.
        guard status & 0x7F == 0 else { throw ChildProgramFailure(.killed(signal: status & 0x7F), streams.errorOutput) }
        guard (status >> 8) & 0xFF == 0 else {
            throw ChildProgramFailure(.exited(status: (status >> 8) & 0xFF), streams.errorOutput)
        }
        let count = streams.outputCount
        let bytes = printed.withUnsafeBytes { printed in
            SecretBytes(count: count) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: printed[..<count])) }
        }
        return ChildProgramOutput(bytes: bytes, errorOutput: ErrorOutput(streams.errorOutput))
    }

    private struct SpawnFailure: Error {
        let errorNumber: Int32
    }

    /// Starts the program.
    ///
    /// - Parameters: the descriptors that become the program's standard input, standard output and standard error.
    private func spawn(_ input: Int32, _ output: Int32, _ errors: Int32) throws(SpawnFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // The daemon's connections have no close-on-exec flag. The program must not inherit them, so every descriptor
        // above 2 is closed.
        _ = clinux_spawn_close_from(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program must not inherit the signal mask of this thread, nor ignore the signals that the daemon ignores,
        // such as SIGPIPE.
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
}
