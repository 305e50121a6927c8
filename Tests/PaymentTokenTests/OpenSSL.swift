import Foundation
import MerchantTestSupport

/// The `openssl` program: a second opinion that shares no code with what is tested.
enum OpenSSL {
    struct Refusal: Error { let output: String }

    /// - Returns: standard output.
    static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stderr)
        try process.run()
        // Both sides stay far below a pipe's 64 KiB, so writing first cannot block.
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        let complaint = try stderr.fileHandleForReading.readToEnd() ?? Data()
        process.waitForExit()
        guard process.terminationStatus == 0 else { throw Refusal(output: String(decoding: complaint, as: UTF8.self)) }
        return Array(output)
    }
}
