import MerchantTestSupport

/// Runs the programs with which the tests verify the sandbox's output, such as openssl and python3.
enum Programs {
    /// Whether `python3` and its package `cryptography` are installed.
    static let hasPythonCryptography = ChildProcess.succeeds("python3", "-c", "import cryptography")
    static let hasOpenSSL = ChildProcess.succeeds("openssl", "version")

    static func run(_ command: [String], input: String = "") throws -> ChildProcess.Outcome {
        try ChildProcess.run(command, input: input.utf8)
    }

    static func openssl(_ arguments: String...) throws -> ChildProcess.Outcome { try run(["openssl"] + arguments) }
}
