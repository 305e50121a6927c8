/// A token that is genuine and opened, or could be, but was made for another merchant or request than expected.
///
/// ``checks`` holds both values of each field, for the caller alone; printing the error names the fields and no value.
public struct TransactionMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The checks that failed: at least one.
    public let checks: [TransactionCheck]

    /// - Returns: nil where no check failed.
    public init?(_ checks: [TransactionCheck]) {
        let failed = checks.filter { $0.outcome == .failed }
        guard !failed.isEmpty else { return nil }
        self.checks = failed
    }

    /// The fields that differ.
    public var description: String {
        "differs from what was expected: \(checks.map(\.name.rawValue).joined(separator: ", "))"
    }
}
