import ChildProgram
import Foundation
import MerchantTestSupport
import Secrets
import Testing

/// Runs real programs. Their sleeps are longer than every time limit, so no test waits until they end.
@Suite struct ChildProgramTests {
    private func shell(_ script: String, within limit: Duration = .seconds(20), largest: Int = 1024) -> ChildProgram {
        ChildProgram(["/bin/sh", "-c", script], within: limit, largestOutput: largest)
    }

    private func output(_ program: ChildProgram, input: String? = nil) throws -> [UInt8] {
        guard let input else { return try program.run().bytes.withUnsafeBytes { Array($0) } }
        return try program.run(input: SecretBytes(copying: input.utf8)).bytes.withUnsafeBytes { Array($0) }
    }

    private func failure(_ program: ChildProgram, input: String? = nil) throws -> ChildProgramFailure {
        try #require(throws: ChildProgramFailure.self) { _ = try output(program, input: input) }
    }

    @Test func `a program gets its input on standard input and not on its command line`() throws {
        let program = shell(#"tr '\0' ' ' </proc/$$/cmdline; cat"#, largest: 4096)
        let printed = String(decoding: try output(program, input: "4111111111111111"), as: UTF8.self)
        #expect(printed.hasSuffix("4111111111111111"))
        #expect(printed.matches(of: /4111111111111111/).count == 1)
    }

    @Test func `input and output larger than a pipe do not block each other`() throws {
        let input = String(repeating: "0123456789abcdef", count: 40_000)
        let found = try output(ChildProgram(["/bin/cat"], within: .seconds(20), largestOutput: 1 << 20), input: input)
        #expect(found == Array(input.utf8))
    }

    @Test func `a program need not read its input`() throws {
        let input = String(repeating: "x", count: 1 << 20)
        let closed = try output(shell("exec <&-; echo closed"), input: input)
        #expect(closed == Array("closed\n".utf8))
        let ignored = try output(shell("echo ignored"), input: input)
        #expect(ignored == Array("ignored\n".utf8))
    }

    @Test func `without input, standard input is empty`() throws {
        let found = try output(shell("wc -c"))
        #expect(String(decoding: found, as: UTF8.self).contains("0"))
    }

    @Test func `output of the largest size is returned, and a longer one is a failure`() throws {
        #expect(try output(shell("printf 1234", largest: 4)) == Array("1234".utf8))
        #expect(try failure(shell("printf 12345", largest: 4)).cause == .outputTooLong)
        #expect(try failure(shell("yes", largest: 4)).cause == .outputTooLong)
    }

    @Test func `another exit status than 0 and a signal are failures, with the beginning of the error output`() throws {
        let exited = try failure(shell("echo why >&2; exit 3"))
        #expect(exited.cause == .exited(status: 3) && exited.errorOutput.description == "why")
        #expect(try failure(shell("kill -9 $$")).cause == .killed(signal: 9))
        let long = try failure(shell("head -c 100000 /dev/zero | tr '\\0' e >&2; exit 1"))
        #expect(long.errorOutput.description.count == ChildProgram.longestErrorOutput)
    }

    @Test func `a program that cannot be started is a failure with the reason`() throws {
        #expect(
            try failure(ChildProgram(["/nowhere/at-all"], within: .seconds(5), largestOutput: 1)).cause
                == .notStarted(errorNumber: 2))
    }

    @Test func `a program and its children are killed after the time limit`() throws {
        let scratch = try Scratch()
        let file = scratch.path("child")
        #expect(
            try failure(shell("sleep 1000 & echo $! >\(file); wait", within: .seconds(2))).cause == .timedOut)
        let child = try scratch.text("child").filter(\.isNumber)
        let end = ContinuousClock.now + .seconds(20)
        while Self.isRunning(child), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
        #expect(!Self.isRunning(child))
    }

    /// A zombie, a killed process whose status has not been read yet, is not running.
    private static func isRunning(_ process: String) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return !status.contains(") Z")
    }
}
