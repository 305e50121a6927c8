import Foundation
import MerchantTestSupport

/// Runs the program `openssl`, an implementation that is independent of the library.
enum OpenSSL {
    struct Failure: Error { let output: String }

    /// - Returns: the standard output.
    /// - Throws: ``Failure`` with the standard error, unless the exit status is 0.
    static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        try process.run()
        // The input is much smaller than a pipe's buffer of 64 KiB, so writing all of it first does not block.
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        let errorOutput = try stderr.fileHandleForReading.readToEnd() ?? Data()
        process.waitForExit()
        guard process.terminationStatus == 0 else {
            throw Failure(output: String(decoding: errorOutput, as: UTF8.self))
        }
        return Array(output)
    }
}
