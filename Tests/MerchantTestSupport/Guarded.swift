import Synchronization

/// A value that several threads of a test read and change.
package final class Guarded<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    package init(_ value: Value) { stored = Mutex(value) }

    package var value: Value {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    /// Reads and changes the value in one step.
    package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        stored.withLock { change(&$0) }
    }
}
