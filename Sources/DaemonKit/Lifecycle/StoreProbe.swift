import Dispatch
import MerchantCore

/// Finds out whether the database answers a read, for the watchdog.
///
/// A read that fails is an answer, too: a restart of the daemon does not repair a disk, and while the database cannot
/// be read, the daemon still serves keys from memory. `status` reports the failure.
struct StoreProbe: Sendable {
    /// A separate queue, because a read that hangs blocks its thread.
    private static let queue = DispatchQueue(label: "store probe")

    let store: any MerchantRepository

    /// - Parameter answered: called when the read has finished, and never if it hangs.
    func ask(_ answered: @escaping @Sendable () -> Void) {
        Self.queue.async { [store] in
            // No value has this name: only the read matters.
            _ = try? store.readNow { try $0.daemonValue("livenessProbe") }
            answered()
        }
    }
}
