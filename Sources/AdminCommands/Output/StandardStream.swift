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
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                // Nobody can be told any more, and half a result must not pass for one.
                exit(ExitStatus.refused.rawValue)
            }
        }
    }
}
