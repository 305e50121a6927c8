import ChildProgram
package import MerchantCore
import Secrets
import Vocabulary

/// Reads a master key from the output of a program.
extension MasterKey {
    /// Runs a program without a shell, and uses its standard output as the key.
    ///
    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments.
    ///   - seconds: the time limit of ``ChildProgram``.
    /// - Throws: `storeUnavailable` with the program's standard error. The program must exit with status 0 and print
    ///   exactly 32 raw bytes.
    package static func load(from arguments: [String], within seconds: Int) throws(MerchantError) -> MasterKey {
        let output = try run(arguments, within: seconds)
        let count = output.bytes.count
        guard count == length else {
            throw refusal(
                arguments, "printed \(count.counted("byte")), expected exactly \(length) raw bytes", output.errorOutput)
        }
        let bytes = output.bytes.withUnsafeBytes { printed in
            SecretBytes(count: length) { $0.copyMemory(from: printed) }
        }
        guard let key = MasterKey(bytes) else { throw refusal(arguments, "printed no key") }
        return key
    }

    private static func run(_ arguments: [String], within seconds: Int) throws(MerchantError) -> ChildProgramOutput {
        do throws(ChildProgramFailure) {
            return try ChildProgram(arguments, within: .seconds(seconds), largestOutput: length).run()
        } catch {
            switch error.cause {
            case .notStarted(let errorNumber):
                throw refusal(arguments, "cannot be run: \(ChildProgramFailure.message(errorNumber))")
            case .timedOut:
                throw refusal(arguments, "did not exit within \(seconds.counted("second"))", error.errorOutput)
            case .outputTooLong:
                throw refusal(
                    arguments,
                    "printed more than \(length) bytes, expected exactly \(length) raw bytes without a line end",
                    error.errorOutput)
            case .exited(let status):
                throw refusal(arguments, "exited with status \(status), expected exit status 0", error.errorOutput)
            case .killed(let signal):
                throw refusal(arguments, "was killed by signal \(signal), expected exit status 0", error.errorOutput)
            }
        }
    }

    /// - Parameter predicate: the end of a sentence that begins with the program.
    private static func refusal(
        _ arguments: [String], _ predicate: String, _ errorOutput: ErrorOutput? = nil
    ) -> MerchantError {
        let text = errorOutput?.description ?? ""
        return MerchantError(
            .storeUnavailable,
            "the master key's command \(arguments.first ?? "") \(predicate)\(text.isEmpty ? "" : ": its error output: \(text)")"
        )
    }
}
