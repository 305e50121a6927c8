import FoundationEssentials
import Glibc

/// Standard output or standard error, unbuffered.
package struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func write(_ text: String) { write(Data(text.utf8)) }

    /// Writes every byte, or ends as a program does whose reader has gone.
    func write(_ bytes: Data) {
        // Nobody can be told any more, and half a result must not pass for one.
        if bytes.write(to: descriptor) != 0 { exit(ExitStatus.refused.rawValue) }
    }
}
