import Foundation

extension ChildProcess {
    /// The result of a program that has ended.
    package struct Outcome: Sendable {
        /// The exit status, or the number of the signal that ended the program.
        package let status: Int32
        package let outputBytes: [UInt8]
        package let errorBytes: [UInt8]

        package var output: String { String(decoding: outputBytes, as: UTF8.self) }
        package var error: String { String(decoding: errorBytes, as: UTF8.self) }
    }

    /// A program on which a test relies failed.
    package struct Failure: Error, CustomStringConvertible {
        package let command: [String]
        package let outcome: Outcome

        package init(command: [String], outcome: Outcome) {
            self.command = command
            self.outcome = outcome
        }

        package var description: String {
            "\(command.joined(separator: " ")): exit status \(outcome.status): \(outcome.error)"
        }
    }

    /// Runs a program to its end.
    ///
    /// Its standard streams are files without a name, so that neither side can block on a full pipe. A program that
    /// opens `/dev/stdout` again therefore overwrites its own output.
    package static func run(
        _ command: [String], input: some Collection<UInt8> = [UInt8](), environment: [String: String]? = nil,
        directory: String? = nil
    ) throws -> Outcome {
        let (standardInput, output, error) = (try TemporaryFile(input), try TemporaryFile([]), try TemporaryFile([]))
        // The descriptors stay open until the program has them.
        let child = try withExtendedLifetime((standardInput, output, error)) {
            try ChildProcess(
                command, input: .descriptor(standardInput.descriptor), output: .descriptor(output.descriptor),
                error: .descriptor(error.descriptor), environment: environment, directory: directory)
        }
        let status = child.wait().status
        return Outcome(status: status, outputBytes: try output.contents(), errorBytes: try error.contents())
    }

    /// Runs a program to its end.
    /// - Returns: its standard output.
    /// - Throws: ``Failure`` unless its exit status is 0.
    @discardableResult
    package static func output(
        of command: [String], input: some Collection<UInt8> = [UInt8](), directory: String? = nil
    ) throws -> [UInt8] {
        let outcome = try run(command, input: input, directory: directory)
        guard outcome.status == 0 else { throw Failure(command: command, outcome: outcome) }
        return outcome.outputBytes
    }

    /// Whether a program can be started and exits with status 0.
    package static func succeeds(_ command: String...) -> Bool { (try? run(command).status) == 0 }
}

/// A file without a name, which exists until its descriptor is closed.
private final class TemporaryFile {
    let descriptor: Int32

    init(_ contents: some Collection<UInt8>) throws {
        var path = Array("\(FileManager.default.temporaryDirectory.path)/merchantkeyd-test.XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        unlink(path)
        let bytes = Array(contents)
        guard write(descriptor, bytes, bytes.count) == bytes.count, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw POSIXError(.EIO)
        }
    }

    deinit { close(descriptor) }

    func contents() throws -> [UInt8] {
        defer { withExtendedLifetime(self) {} }
        lseek(descriptor, 0, SEEK_SET)
        return Array(try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd() ?? Data())
    }
}
