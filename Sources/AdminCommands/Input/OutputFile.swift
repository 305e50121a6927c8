package import FoundationEssentials
import Glibc

/// A file that a subcommand writes completely or not at all; ``WholeFile`` names the exception. With the path `-`, the
/// subcommand writes to standard output instead. If that fails, a part of the content may have been written.
package struct OutputFile: Sendable {
    /// Which users may read the written file.
    package enum Readers: Sendable {
        case everyUser
        /// Only the user who runs the program.
        case owner
    }

    package let path: String
    private let overwrites: Bool
    private let readers: Readers

    package init(_ path: String, overwrites: Bool, readers: Readers = .everyUser) {
        self.path = path
        self.overwrites = overwrites
        self.readers = readers
    }

    package var isStandardOutput: Bool { path == "-" }

    /// Checks whether ``write(_:)`` may write the file. Call this before the operation that produces the content, so
    /// that the operation is not executed if its result can't be written.
    ///
    /// - Throws: ``CommandFailure`` if the file exists and may not be replaced.
    package func checkWritable() throws(CommandFailure) {
        guard !isStandardOutput else { return }
        // For a symbolic link, these are the attributes of the link itself, not of the file to which the link refers.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return }
        // Writing replaces the file. Replacing a device or a link would break the programs that use the device or link.
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
            throw CommandFailure(.failed, "\(path) is not a regular file; name another file")
        }
        guard overwrites else { throw existsFailure }
    }

    /// Writes the file with mode 0644, or 0600 if only the owner may read it. When this returns, the content is on
    /// stable storage, but not necessarily the file's name. With the path `-`, only writes to standard output.
    package func write(_ bytes: Data) throws(CommandFailure) {
        guard !isStandardOutput else { return StandardStream.output.write(bytes) }
        try checkWritable()
        let readers = readers
        let outcome = WholeFile.write(
            to: path, overwrites: overwrites, mode: readers == .owner ? 0o600 : 0o644,
            content: { Self.writeAndSync($0, bytes, readers) })
        switch outcome {
        case .written: break
        case .exists: throw existsFailure
        case .failed(let code):
            throw CommandFailure(.failed, "can't write \(path): \(String(cString: strerror(code)))")
        }
    }

    /// Writes the bytes, and waits until they are on stable storage.
    ///
    /// - Returns: 0, or errno if this failed.
    private static func writeAndSync(_ descriptor: Int32, _ bytes: Data, _ readers: Readers) -> Int32 {
        // CSRs, certificates and the chart of `certificate timeline` are public, so every user may read them, even if
        // the umask denies this.
        if readers == .everyUser {
            guard fchmod(descriptor, 0o644) == 0 else { return errno }
        }
        let code = bytes.write(to: descriptor)
        guard code == 0 else { return code }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    private var existsFailure: CommandFailure {
        // Commands that write a file only for its owner do not have the option --force.
        CommandFailure(
            .failed, "\(path) exists; name another file\(readers == .owner ? "" : " or use --force")")
    }
}
