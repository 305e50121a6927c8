import Glibc

/// Why a program produced no usable output.
package struct ChildProgramFailure: Error, Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// The program could not be started; an error of posix_spawn(3) or pipe(2).
        case notStarted(errorNumber: Int32)
        /// The program did not exit within the time limit, and was killed; also if poll(2) failed.
        case timedOut
        /// The program printed more than the permitted number of bytes, and was killed.
        case outputTooLong
        /// The exit status was not 0.
        case exited(status: Int32)
        case killed(signal: Int32)
    }

    package let cause: Cause
    /// The beginning of the program's standard error. It may contain data from the program's input or arguments.
    package let errorOutput: ErrorOutput

    init(_ cause: Cause, _ errorOutput: [UInt8] = []) {
        self.cause = cause
        self.errorOutput = ErrorOutput(errorOutput)
    }

    /// The operating system's message for an error number.
    package static func message(_ errorNumber: Int32) -> String { String(cString: strerror(errorNumber)) }
}

/// The beginning of a program's standard error, in a form that fits an error message: one line of ASCII without the
/// character ESC, which begins the escape sequences of a terminal.
package struct ErrorOutput: Hashable, Sendable, CustomStringConvertible {
    /// Empty if the program printed nothing on its standard error.
    package let description: String

    init(_ bytes: [UInt8]) {
        description = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { String($0.filter { $0.isASCII && !$0.isNewline && $0 != "\u{1B}" }) }.joined(separator: "; ")
    }
}
