import ArgumentParser
import Glibc

/// The program `applepay-sandbox`, but for its entry point.
package enum SandboxProgram {
    /// Runs one command line and reports a failure on standard error.
    ///
    /// - Parameter arguments: without the program's name.
    /// - Returns: the exit status: 0 done, 1 refused or failed, 2 wrong usage.
    package static func run(_ arguments: [String]) -> CInt {
        do {
            var command = try SandboxCommand.parseAsRoot(arguments)
            try command.run()
            return 0
        } catch let fault as SandboxFault {
            say("applepay-sandbox: \(fault)", on: STDERR_FILENO)
            return 1
        } catch {
            let code = SandboxCommand.exitCode(for: error)
            say(SandboxCommand.fullMessage(for: error), on: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO)
            return status(code)
        }
    }

    /// The one place where ArgumentParser's exit codes (64 for wrong usage) become ours.
    private static func status(_ code: ExitCode) -> CInt {
        switch code {
        case .success: 0
        case .validationFailure: 2
        default: 1
        }
    }

    /// Nobody is left to tell where even this can't be written.
    private static func say(_ text: String, on descriptor: CInt) {
        try? Files.write(Array((text + "\n").utf8), into: descriptor, named: "the terminal")
    }
}
