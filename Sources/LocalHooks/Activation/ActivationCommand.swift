import ChildProgram
import MerchantCore
import MerchantOperations
import Secrets

/// The program of `provisioning.activation.command`. It gets the ``ActivationQuestion`` as JSON on standard input, and
/// prints the response.
struct ActivationCommand {
    /// The program's absolute path, then its arguments.
    let arguments: [String]
    let timeLimit: Duration

    /// Runs the program. Blocks the thread.
    func ask(_ question: ActivationQuestion) throws(MerchantError) -> [UInt8] {
        let output = try run(question.json())
        return try output.bytes.withUnsafeBytes { (bytes) throws(MerchantError) -> [UInt8] in
            try ActivationResponse.activationData(in: Array(bytes), of: name)
        }
    }

    private func run(_ input: consuming SecretBytes) throws(MerchantError) -> ChildProgramOutput {
        do throws(ChildProgramFailure) {
            return try ChildProgram(arguments, within: timeLimit, largestOutput: ActivationHook.largestResponse)
                .run(input: input)
        } catch {
            // The error does not quote the program's standard error, because it may contain card data.
            switch error.cause {
            case .notStarted(let errorNumber):
                throw .activationUnavailable("\(name) cannot be run: \(ChildProgramFailure.message(errorNumber))")
            case .timedOut:
                throw .activationUnavailable("\(name) did not exit within \(timeLimit.components.seconds) s")
            case .outputTooLong:
                throw .activationFailed("\(name) printed more than \(ActivationHook.largestResponse) bytes")
            case .exited(let status):
                throw .activationFailed("\(name) exited with status \(status), expected exit status 0")
            case .killed(let signal): throw .activationFailed("\(name) was killed by signal \(signal)")
            }
        }
    }

    /// The name does not include the arguments, because they may contain a secret.
    private var name: String { "the activation command \(arguments.first ?? "")" }
}
