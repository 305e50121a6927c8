import EventDelivery
import KeyCustody
import MerchantCore
import MerchantOperations
import OutboundHTTP
import PaymentToken
import Vocabulary

/// Compares settings that a reload has read with those in force, and decides which of them take effect.
struct SettingsComparison {
    /// Settings whose values may contain a secret, such as an argument of a command. A response never contains them.
    private static let confidential: Set<String> = ["master-key.command", "master-key.previous.command"]

    /// What the daemon read when it started.
    let start: PreparedStart
    let former: ReloadableSettings
    let read: PreparedStart

    private let inForce: SettingTexts
    private let configured: SettingTexts

    init(start: PreparedStart, former: ReloadableSettings, read: PreparedStart) {
        self.start = start
        self.former = former
        self.read = read
        inForce = former.texts
        configured = SettingTexts(read.settings.inForce)
    }

    var result: SettingsReload {
        var result = SettingsReload(warnings: read.warnings)
        for name in configured.names where inForce[name] != configured[name] || isContentChanged(name) {
            if isTakenUp(name) { result.changed.append(name) } else { result.needsRestart.append(pending(name)) }
        }
        return result
    }

    /// The settings after the reload.
    var next: ReloadableSettings {
        var texts = inForce
        for name in configured.names where isTakenUp(name) { texts[name] = configured[name] }
        return ReloadableSettings(
            read, backupPolicy: backupPolicy,
            // The verifier caches what it has verified, so it stays unless its roots have changed.
            verifier: read.files.tokenRoots == former.tokenRoots
                ? former.verifier
                : ReloadableSettings.verifier(read, environment: start.settings.environment),
            portalFiles: keepsPortalFiles ? former.portalFiles : read.settings.portal?.tlsFiles, texts: texts)
    }

    private func isTakenUp(_ name: String) -> Bool {
        ReloadableSettings.names.contains(name) && !(keepsPortalFiles && name.hasPrefix("portal.tls."))
            && !(isEnvironmentChanged && name.hasPrefix("backup.missing."))
    }

    /// Without a running portal there is nothing that could use other files.
    private var keepsPortalFiles: Bool { start.settings.portal == nil || read.settings.portal == nil }

    /// The environment stays that of the start, so the defaults that depend on it stay too.
    private var isEnvironmentChanged: Bool { read.settings.environment != start.settings.environment }

    private var backupPolicy: BackupPolicy {
        guard isEnvironmentChanged else { return read.settings.backupPolicy }
        var policy = former.backupPolicy
        policy.isScheduled = read.settings.backupPolicy.isScheduled
        return policy
    }

    /// Whether files that the setting names have another content than before. Other files are read again by themselves
    /// when they change.
    private func isContentChanged(_ name: String) -> Bool {
        switch name {
        case "trust.token-roots": former.tokenRoots != read.files.tokenRoots
        case "trust.certificate-issuers": former.certificateIssuers != read.files.certificateIssuers
        case "events.webhooks": former.webhooks != read.settings.events.webhooks
        case "apple.gateway.trust-roots": start.files.gatewayRoots != read.files.gatewayRoots
        case "domain-check.trust-roots": start.files.domainCheckRoots != read.files.domainCheckRoots
        default: false
        }
    }

    private func pending(_ name: String) -> SettingsReload.Pending {
        guard !Self.confidential.contains(name) else { return SettingsReload.Pending(name: name, values: nil) }
        let (old, new) = (inForce[name] ?? "", configured[name] ?? "")
        return SettingsReload.Pending(
            name: name,
            values: SettingsReload.Values(
                inForce: old, configured: old == new ? "\(new), with another content of the files" : new))
    }
}
