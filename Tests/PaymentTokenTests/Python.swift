import Foundation
import MerchantTestSupport

/// Runs the program `python3`.
enum Python {
    static let hasCryptography = ChildProcess.succeeds("python3", "-c", "import cryptography")

    /// - Parameter input: the name of a file in the directory that becomes the standard input; nil for no input.
    /// - Returns: the standard output.
    /// - Throws: `ChildProcess.Failure` with the standard error, unless the exit status is 0.
    static func run(_ arguments: [String], in directory: URL, input: String?) throws -> String {
        let bytes = try input.map { try Data(contentsOf: directory.appending(path: $0)) } ?? Data()
        return String(
            decoding: try ChildProcess.output(of: ["python3"] + arguments, input: bytes, directory: directory.path),
            as: UTF8.self)
    }
}
