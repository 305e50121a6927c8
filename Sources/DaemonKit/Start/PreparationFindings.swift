import MerchantCore

/// What ``PreparedStart`` finds. All checks run, so that an operator sees every problem at once.
struct PreparationFindings {
    /// Why a start is refused.
    private(set) var problems: [String] = []
    /// Problems that do not prevent the start.
    private(set) var warnings: [String] = []

    mutating func refuse(_ problem: String) { problems.append(problem) }

    mutating func warn(_ warning: String) { warnings.append(warning) }

    /// Runs `body`. Its error is a problem.
    ///
    /// - Parameter prefix: the beginning of the problem, such as "'master-key.file': ".
    /// - Returns: nil if `body` throws.
    mutating func collect<Value>(_ prefix: String = "", _ body: () throws -> Value) -> Value? {
        do { return try body() } catch let error as SettingsError {
            problems += error.problems.map { prefix + $0 }
        } catch let error as MerchantError {
            problems.append(prefix + error.detail)
        } catch {
            problems.append("\(prefix)\(error)")
        }
        return nil
    }
}
