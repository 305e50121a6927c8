import MerchantOperations
import WireAPI

extension ReloadDocument {
    init(_ reload: SettingsReload, dryRun: Bool) {
        self.init(dryRun: dryRun, changed: reload.changed)
        needsRestart = reload.needsRestart.map { setting in
            var pending = PendingSetting(setting.name)
            pending.inForce = setting.values?.inForce
            pending.configured = setting.values?.configured
            return pending
        }
        warnings = reload.warnings
    }
}
