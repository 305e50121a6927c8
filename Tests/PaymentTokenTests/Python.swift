import Foundation
import MerchantTestSupport

/// Runs the program `python3`.
enum Python {
    struct Failure: Error { let output: String }

    static let hasCryptography = {
        let directory = FileManager.default.temporaryDirectory
        return (try? run(["-c", "import cryptography"], in: directory, input: nil)) != nil
    }()

    /// - Parameter input: the name of a file in the directory that becomes the standard input; nil for no input.
    /// - Returns: the standard output.
    /// - Throws: ``Failure`` with the standard error, unless the exit status is 0.
    static func run(_ arguments: [String], in directory: URL, input: String?) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        // Files instead of pipes, so that the program cannot block on a full pipe.
        let names = ["out", "err"].map { directory.appending(path: "\($0)-\(UUID().uuidString)") }
        defer { for name in names { try? FileManager.default.removeItem(at: name) } }
        for name in names { try Data().write(to: name) }
        process.standardInput =
            try input.map { try FileHandle(forReadingFrom: directory.appending(path: $0)) } ?? FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: names[0])
        process.standardError = try FileHandle(forWritingTo: names[1])
        try process.run()
        process.waitForExit()
        guard process.terminationStatus == 0 else {
            throw Failure(output: String(decoding: try Data(contentsOf: names[1]), as: UTF8.self))
        }
        return String(decoding: try Data(contentsOf: names[0]), as: UTF8.self)
    }
}
