import MerchantOperations
import WireAPI

extension ReloadDocument {
    init(_ reload: SettingsReload, dryRun: Bool) {
        self.init(dryRun: dryRun, changed: reload.changed)
        changes = reload.changes.map { change in
            var document = ChangedValue(change.name)
            document.before = change.before
            document.after = change.after
            return document
        }
        needsRestart = reload.needsRestart.map { setting in
            var pending = PendingSetting(setting.name)
            pending.inForce = setting.values?.inForce
            pending.configured = setting.values?.configured
            return pending
        }
        warnings = reload.warnings
    }
}
