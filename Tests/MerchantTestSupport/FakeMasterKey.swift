package import MerchantCore
import Synchronization
import Vocabulary

/// A master key without bytes. Each rotation has finished when `rotate` returns.
package final class FakeMasterKey: MasterKeyRotating {
    private let clock: any WallClock
    private let lastRotation = Mutex<KeyRotation?>(nil)

    package init(clock: any WallClock) { self.clock = clock }

    package func status() async throws -> MasterKeyStatus {
        let rotation = lastRotation.withLock { $0 }
        return MasterKeyStatus(
            masterKeyIdentifier: MasterKeyIdentifier(bytes: Array(repeating: 1, count: MasterKeyIdentifier.length)),
            dataKeyIdentifier: rotation?.dataKeyIdentifier ?? 1, source: "test", rotation: rotation, blockedBy: nil)
    }

    package func rotate(
        dataKeyOnly: Bool, dryRun: Bool, by caller: Caller, requestId: String
    ) async throws -> KeyRotationPlan {
        let now = clock.now
        if !dryRun {
            lastRotation.withLock { last in
                last = KeyRotation(
                    identifier: (last?.identifier ?? 0) + 1, state: .finished,
                    dataKeyIdentifier: (last?.dataKeyIdentifier ?? 1) + 1, replacesMasterKey: !dataKeyOnly, total: 0,
                    done: 0, startedAt: now, finishedAt: now)
            }
        }
        return KeyRotationPlan(joinsRotationInProgress: false, steps: ["replace the data key"])
    }
}
