import Dispatch
import KeyCustody
import Logging
import MerchantCore
import PostgresStore
import ServiceLifecycle
import Vocabulary

/// Renews the leases of this daemon on its PostgreSQL database, until the daemon shuts down.
struct LeaseRenewal: Service {
    let lease: NodeLease
    let keyring: Keyring
    let logger: Logger

    /// - Throws: `storeUnavailable` if another daemon uses the same node name, or if the database has lost
    ///   transactions; `masterKeyConflict` if another daemon has rotated the keys, and this one cannot load the new
    ///   data key. The daemon then exits.
    func run() async throws {
        do {
            try await withTaskCancellationOrGracefulShutdownHandler {
                try await withCheckedThrowingContinuation { continuation in
                    // A thread of its own, because the renewal blocks its thread until the daemon shuts down.
                    DispatchQueue(label: "merchantkeyd.lease").async { [lease, keyring] in
                        continuation.resume(with: Result { try lease.run { keyring.holds($0) } })
                    }
                }
            } onCancelOrGracefulShutdown: {
                lease.stop()
            }
        } catch {
            let error = Self.merchantError(for: error, lease.node.name)
            if let error = error as? MerchantError { logger.critical("\(error.detail)") }
            throw error
        }
    }

    /// Converts the errors of a lease to a `MerchantError` that says why the daemon exits. Returns other errors
    /// unchanged.
    private static func merchantError(for error: any Error, _ node: NodeName) -> any Error {
        switch error {
        case NodeLease.Failure.nameInUse:
            MerchantError(
                .storeUnavailable,
                "another merchantkeyd uses the PostgreSQL database under the name '\(node)', so this one exits: give each daemon a 'store.postgresql.node' of its own"
            )
        case NodeLease.Failure.keysRotated:
            MerchantError(
                .masterKeyConflict,
                "another merchantkeyd has rotated the keys of the PostgreSQL database while this one had no connection, and this one could not load the new data key, so this one exits: find the reason in the log, put the new master key into the settings of this machine if it is missing there, and start the daemon again"
            )
        case let lost as LostTransactions: lost.merchantError
        default: error
        }
    }
}
