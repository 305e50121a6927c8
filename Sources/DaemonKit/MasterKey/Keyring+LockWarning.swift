import KeyCustody
import Logging

extension Keyring {
    /// Logs a warning if the keys of the keyring may be written to swap.
    func warnUnlessLocked(_ logger: Logger) {
        guard !isLockedInMemory else { return }
        logger.warning(
            "the master key and the data keys may be written to swap: raise the limit on locked memory (LimitMEMLOCK), or disable swap"
        )
    }
}
