import CLinux
import Glibc

/// Writes a program's standard input, and reads its standard output and standard error, all at the same time: a program
/// may print before it has read its whole input.
struct ProgramStreams {
    private let input: UnsafeRawBufferPointer
    private let errorLimit: Int
    /// How many bytes of the input were written.
    private var inputCount = 0
    private var isOutputClosed = false
    private var isErrorClosed = false
    /// How many bytes of the output were received.
    private(set) var outputCount = 0
    /// The first bytes of the standard error.
    private(set) var errorOutput: [UInt8] = []

    /// - Parameter errorLimit: how many bytes of the standard error are kept.
    init(input: UnsafeRawBufferPointer, errorLimit: Int) {
        self.input = input
        self.errorLimit = errorLimit
    }

    /// Returns when the program has closed its output and its standard error, when the time is over, or when the memory
    /// for the output is full.
    ///
    /// - Parameters:
    ///   - standardInput: the pipe whose writing end is closed when the whole input is written, or when the program has
    ///     closed the reading end.
    ///   - memory: receives the standard output.
    /// - Returns: false if the time was over, or if poll(2) failed.
    mutating func transfer(
        to standardInput: inout Pipe, from output: Int32, _ errors: Int32, until end: ContinuousClock.Instant,
        _ memory: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let signals = Self.blockPipeSignal()
        defer { Self.restore(signals) }
        // A program that does not read must not block this thread past the time limit.
        _ = fcntl(standardInput.writer, F_SETFL, O_NONBLOCK)
        if input.isEmpty { standardInput.closeWriter() }
        while true {
            // poll(2) ignores negative descriptors.
            var pipes = [
                pollfd(fd: isOutputClosed ? -1 : output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isErrorClosed ? -1 : errors, events: Int16(POLLIN), revents: 0),
                pollfd(fd: standardInput.writer, events: Int16(POLLOUT), revents: 0),
            ]
            guard pipes[0].fd >= 0 || pipes[1].fd >= 0 else { return true }
            let remaining = (end - .now).components
            let milliseconds = remaining.seconds * 1000 + remaining.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return false }
            guard poll(&pipes, nfds_t(pipes.count), Int32(clamping: milliseconds)) >= 0 else {
                // After an error `revents` is not valid, so a read could block past the deadline.
                guard errno == EINTR else { return false }
                continue
            }
            if pipes[0].revents != 0 { readOutput(output, memory) }
            guard outputCount < memory.count else { return true }
            if pipes[1].revents != 0 { readErrors(errors) }
            if pipes[2].revents != 0 { writeInput(&standardInput) }
        }
    }

    private mutating func readOutput(_ output: Int32, _ memory: UnsafeMutableRawBufferPointer) {
        let got = read(output, memory.baseAddress.map { $0 + outputCount }, memory.count - outputCount)
        if got > 0 { outputCount += got } else if got == 0 || errno != EINTR { isOutputClosed = true }
    }

    private mutating func readErrors(_ errors: Int32) {
        var piece = [UInt8](repeating: 0, count: 1024)
        let got = read(errors, &piece, piece.count)
        if got > 0 {
            errorOutput += piece[..<got].prefix(max(0, errorLimit - errorOutput.count))
        } else if got == 0 || errno != EINTR {
            isErrorClosed = true
        }
    }

    private mutating func writeInput(_ standardInput: inout Pipe) {
        let written = write(
            standardInput.writer, input.baseAddress.map { $0 + inputCount }, input.count - inputCount)
        if written > 0 { inputCount += written }
        // EPIPE: the program has exited, or has closed its standard input. This is not a failure: the program's output
        // and exit status decide whether it succeeded.
        let cannotWriteMore = written < 0 && errno != EINTR && errno != EAGAIN
        if cannotWriteMore || inputCount == input.count { standardInput.closeWriter() }
    }

    // MARK: SIGPIPE

    /// Blocks SIGPIPE on this thread, so that a program that does not read its input cannot end this process.
    private static func blockPipeSignal() -> sigset_t {
        var (pipeSignal, former) = (pipeSignalOnly, sigset_t())
        pthread_sigmask(SIG_BLOCK, &pipeSignal, &former)
        return former
    }

    private static func restore(_ signals: sigset_t) {
        var (pipeSignal, former) = (pipeSignalOnly, signals)
        // Removes a pending SIGPIPE that a write has raised. Otherwise the signal would be delivered as soon as it is
        // no longer blocked.
        var noTime = timespec()
        while sigtimedwait(&pipeSignal, nil, &noTime) > 0 {}
        pthread_sigmask(SIG_SETMASK, &former, nil)
    }

    private static var pipeSignalOnly: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        return signals
    }
}
