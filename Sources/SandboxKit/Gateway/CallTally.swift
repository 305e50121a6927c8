import Synchronization

/// Counts the calls of each operation by clients with a valid certificate, including calls that fail.
package final class CallTally: Sendable {
    private let counts = Mutex<[GatewayOperation: Int]>([:])

    package func calls(_ operation: GatewayOperation) -> Int { counts.withLock { $0[operation] ?? 0 } }

    func count(_ operation: GatewayOperation) { counts.withLock { $0[operation, default: 0] += 1 } }
}
