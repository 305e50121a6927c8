package import MerchantCore
import Synchronization

/// A setting that a test changes while something uses it.
package final class ChangingValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    private let signal = ChangeSignal()

    package init(_ value: Value) { state = Mutex(value) }

    package var current: CurrentValue<Value> {
        CurrentValue(changedBy: signal) { self.state.withLock { $0 } }
    }

    package func change(to value: Value) {
        state.withLock { $0 = value }
        signal.send()
    }
}
