/// The error for a genuine token that does not match the expected merchant or payment request.
///
/// ``checks`` contains the found and the expected values and must not be logged. The description contains only the
/// names of the fields.
public struct TransactionMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The checks that failed: at least one.
    public let checks: [TransactionCheck]

    /// Creates an error from the results of all checks. The error contains only the checks that failed.
    ///
    /// - Returns: nil if no check failed.
    public init?(_ checks: [TransactionCheck]) {
        let failed = checks.filter { $0.outcome == .failed }
        guard !failed.isEmpty else { return nil }
        self.checks = failed
    }

    /// The names of the fields that differ.
    public var description: String {
        "the token differs from the expected transaction in: \(checks.map(\.name.rawValue).joined(separator: ", "))"
    }
}
