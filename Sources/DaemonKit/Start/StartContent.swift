import KeyCustody
import MerchantCore
import MerchantOperations
import Vocabulary

/// The content of a used database on which ``StartDecision`` depends, as `config check` and `diagnose` read it.
struct StartContent {
    let dataKeys: [SealedDataKey]
    let auditHead: AuditHead?
    /// The description of a restore that no start has recorded completely; empty if there is none.
    let restoredFrom: String
    /// The setting `environment` of the last start; nil if no start was recorded.
    let environment: Environment?

    init(_ reading: some DaemonStateReading & AuditReading, dataKeys: [SealedDataKey]) throws {
        self.dataKeys = dataKeys
        auditHead = try reading.auditHead()
        restoredFrom = try reading.daemonValue(StartOperations.restoreValueName) ?? ""
        environment = try reading.daemonValue(StartOperations.environmentValueName)
            .flatMap { Environment(rawValue: $0) }
    }
}
