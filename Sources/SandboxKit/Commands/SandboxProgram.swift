import ArgumentParser
import Glibc

/// The program `applepay-sandbox`.
package enum SandboxProgram {
    /// Runs a command line. Errors are printed on the standard error.
    ///
    /// - Parameter arguments: the arguments without the name of the program.
    /// - Returns: the exit status: 0 for success, 1 for an error, 2 for wrong usage.
    package static func run(_ arguments: [String]) -> CInt {
        do {
            var command = try SandboxCommand.parseAsRoot(arguments)
            try command.run()
            return 0
        } catch let error as SandboxError {
            print("applepay-sandbox: \(error)", on: STDERR_FILENO)
            return 1
        } catch {
            let code = SandboxCommand.exitCode(for: error)
            print(SandboxCommand.fullMessage(for: error), on: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO)
            return exitStatus(for: code)
        }
    }

    /// Maps ArgumentParser's exit code to the exit status. ArgumentParser uses 64 for wrong usage, this program 2.
    private static func exitStatus(for code: ExitCode) -> CInt {
        switch code {
        case .success: 0
        case .validationFailure: 2
        default: 1
        }
    }

    /// Prints a line. If that fails, the error is ignored, because there is no other way to report it.
    private static func print(_ text: String, on descriptor: CInt) {
        try? Files.write(Array((text + "\n").utf8), into: descriptor, named: "the standard output")
    }
}
