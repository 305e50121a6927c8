import MerchantTestSupport

/// Runs the program `openssl`, an implementation that is independent of the library.
enum OpenSSL {
    /// - Returns: the standard output.
    /// - Throws: `ChildProcess.Failure` with the standard error, unless the exit status is 0.
    static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        try ChildProcess.output(of: ["openssl"] + arguments, input: input)
    }
}
