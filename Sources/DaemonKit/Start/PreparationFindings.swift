import MerchantCore

/// What ``PreparedStart`` and ``StartCheck`` find. Each runs most of its checks even if one finds a problem, so that an
/// operator sees several problems at once.
struct PreparationFindings {
    /// Why a start is refused.
    private(set) var problems: [String] = []
    /// Problems that do not prevent the start.
    private(set) var warnings: [String] = []
    /// What the operator should know although nothing is wrong.
    private(set) var notes: [String] = []

    mutating func refuse(_ problem: String) { problems.append(problem) }

    mutating func refuse(_ error: any Error) { problems += Self.texts(of: error) }

    mutating func warn(_ warning: String) { warnings.append(warning) }

    mutating func note(_ text: String) { notes.append(text) }

    /// Runs `body`. Its error is a problem.
    ///
    /// - Parameter prefix: the beginning of the problem, such as "'master-key.file': ".
    /// - Returns: nil if `body` throws.
    mutating func collect<Value>(_ prefix: String = "", _ body: () throws -> Value) -> Value? {
        do { return try body() } catch {
            problems += Self.texts(of: error).map { prefix + $0 }
            return nil
        }
    }

    /// The messages of an error, for the operator.
    static func texts(of error: any Error) -> [String] {
        switch error {
        case let error as SettingsError: error.problems
        case let error as MerchantError: [error.detail]
        default: ["\(error)"]
        }
    }
}
