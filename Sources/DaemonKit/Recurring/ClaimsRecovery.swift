import Logging
import MerchantCore

/// While claims cannot be stored, for example because another program has locked their file, begins a trial write in
/// each round. When a trial write succeeds, payment tokens can be claimed again.
struct ClaimsRecovery: RecurringTask {
    let claims: any ClaimLedger
    let logger: Logger
    private var wasImpaired = false

    init(claims: any ClaimLedger, logger: Logger) {
        self.claims = claims
        self.logger = logger
    }

    mutating func run() async {
        guard case .impaired(let error, _) = claims.health else {
            if wasImpaired, claims.health == .ready { logger.notice("payment tokens can be claimed again") }
            wasImpaired = false
            return
        }
        if !wasImpaired {
            logger.critical("payment tokens cannot be claimed", metadata: ["error": "\(error.detail)"])
        }
        wasImpaired = true
        claims.retryIfImpaired()
    }
}
