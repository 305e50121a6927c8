package import FoundationEssentials
import Glibc

/// A file that a subcommand reads; `-` is standard input.
package struct InputFile: Sendable {
    /// The largest size that ``read(sizeLimit:)`` accepts by default, in bytes.
    package static let defaultSizeLimit = 1 << 20

    package let path: String

    package init(_ path: String) { self.path = path }

    package var isStandardInput: Bool { path == "-" }

    /// Reads the whole file.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read, is empty, or has more than `sizeLimit` bytes.
    package func read(sizeLimit: Int = defaultSizeLimit) throws(CommandFailure) -> Data {
        let descriptor = isStandardInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { if !isStandardInput { close(descriptor) } }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                throw failure(code)
            }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= sizeLimit else {
                throw CommandFailure(.failed, "\(name) has more than \(sizeLimit) bytes, the limit for this file")
            }
        }
        guard !bytes.isEmpty else { throw CommandFailure(.failed, "\(name) is empty") }
        return bytes
    }

    private var name: String { isStandardInput ? "standard input" : path }

    private func failure(_ code: Int32) -> CommandFailure {
        CommandFailure(.failed, "can't read \(name): \(String(cString: strerror(code)))")
    }
}
