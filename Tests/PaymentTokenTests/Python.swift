import Foundation
import MerchantTestSupport

/// Runs Python, where it is here with the package `cryptography`.
enum Python {
    struct Failed: Error { let output: String }

    static let hasCryptography = {
        let directory = FileManager.default.temporaryDirectory
        return (try? run(["-c", "import cryptography"], in: directory, input: nil)) != nil
    }()

    /// - Parameter input: the name of a file in the directory, for standard input.
    /// - Returns: standard output.
    static func run(_ arguments: [String], in directory: URL, input: String?) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        // Files, not pipes: no program can block on output that nobody reads yet.
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
            throw Failed(output: String(decoding: try Data(contentsOf: names[1]), as: UTF8.self))
        }
        return String(decoding: try Data(contentsOf: names[0]), as: UTF8.self)
    }
}
