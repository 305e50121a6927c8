import MerchantCore
import MerchantOperations
import RESTKit
import Vocabulary
import WireAPI

extension RollDocument {
    /// The roll for clients of the portal. `next` names what the merchant or the portal can do or must wait for, or
    /// says that the platform's admin must act. It names no admin commands, because clients of the portal cannot run
    /// them.
    init(onPortal view: RollView) {
        self.init(view)
        next = Self.next(view)
    }

    /// - Returns: nil if the roll is finished or abandoned.
    private static func next(_ view: RollView) -> String? {
        let (progress, key) = (view.progress, view.roll.to)
        switch (progress.state, progress.waitingFor) {
        case (.finished, _), (.abandoned, _): return nil
        case (.started, _):
            return
                "the merchant creates a certificate at Apple with the CSR of \(key); then upload the certificate"
        case (.certificateStored, .admin):
            return "payments with \(key) arrive: the platform's admin must promote this key"
        case (.certificateStored, _):
            return
                "the merchant activates the certificate of \(key) in its Apple Developer account; then wait for the first payment with this key"
        case (.promoted, .apple): return "wait for the first payment that Apple encrypts to \(key)"
        case (.promoted, .admin):
            return
                "the platform's admin must check that the old key, which was exported, is no longer used, and finish the roll"
        case (.promoted, _):
            guard let quietAt = progress.quietAt else { return "wait until the old key is no longer used" }
            return "wait until \(quietAt): if no payment uses the old key until then, the roll can be finished"
        case (.quiet, .time): return "wait: the daemon finishes the roll, which revokes the old key"
        case (.quiet, _): return "the platform's admin must finish the roll, which revokes the old key"
        }
    }
}
