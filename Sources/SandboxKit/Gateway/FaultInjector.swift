import Synchronization

/// Decides which calls get a fault, and counts the injected faults by kind.
package final class FaultInjector: Sendable {
    private struct State {
        var faults: [GatewayFault]
        var counts: [GatewayFault.Kind: Int] = [:]
    }

    private let state: Mutex<State>

    package init(_ faults: [GatewayFault] = []) { state = Mutex(State(faults: faults)) }

    package var faults: [GatewayFault] { state.withLock { $0.faults } }

    package func replace(_ faults: [GatewayFault]) { state.withLock { $0.faults = faults } }

    package var counts: [GatewayFault.Kind: Int] { state.withLock { $0.counts } }

    /// Returns the fault to inject into a call; nil for none.
    ///
    /// The faults are checked in order. The method returns the first fault that applies to the operation, has calls
    /// left (``GatewayFault/remaining``), and is selected at random with its probability.
    func fault(for operation: GatewayOperation) -> GatewayFault.Kind? {
        state.withLock { state in
            for index in state.faults.indices {
                let fault = state.faults[index]
                guard fault.operation.map({ $0 == operation }) ?? true, fault.remaining != 0,
                    fault.probability >= 1 || Double.random(in: 0..<1) < fault.probability
                else { continue }
                if let remaining = fault.remaining { state.faults[index].remaining = remaining - 1 }
                state.faults.removeAll { $0.remaining == 0 }
                state.counts[fault.kind, default: 0] += 1
                return fault.kind
            }
            return nil
        }
    }
}
