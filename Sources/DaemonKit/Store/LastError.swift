import Synchronization

/// The last error of an action that is repeated, so that only the first of several equal errors is logged.
final class LastError: Sendable {
    private let text = Mutex<String?>(nil)

    /// - Returns: whether the error differs from the last one.
    func replace(by new: String?) -> Bool {
        text.withLock { last in
            defer { last = new }
            return last != new
        }
    }
}
