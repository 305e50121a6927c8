import FoundationEssentials
import Glibc

/// Standard output or standard error. Writes are not buffered.
package struct StandardStream: Sendable {
    static let output = StandardStream(descriptor: STDOUT_FILENO)
    static let error = StandardStream(descriptor: STDERR_FILENO)

    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    func write(_ text: String) { write(Data(text.utf8)) }

    /// Writes every byte. If this fails, for example because the reader has closed the stream, the program exits.
    func write(_ bytes: Data) {
        // The exit status must not be 0, because the result is incomplete.
        if bytes.write(to: descriptor) != 0 { exit(ExitStatus.failed.rawValue) }
    }
}
