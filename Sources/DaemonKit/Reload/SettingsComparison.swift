import EventDelivery
import KeyCustody
import MerchantCore
import MerchantOperations
import OutboundHTTP
import PaymentToken
import Vocabulary

/// Compares settings that a reload has read with those in force, and decides which of them take effect.
struct SettingsComparison {
    /// Whether a value may contain a secret, such as an argument of a command. A response never contains such a value.
    ///
    /// - Parameter name: the name of an entry, such as `events.webhooks.0.url`. The URL of a webhook can contain a
    ///   token.
    private static func isConfidential(_ name: String) -> Bool {
        [
            "master-key.command", "master-key.previous.command", "provisioning.activation.command",
            "provisioning.activation.url",
        ].contains(name)
            || name.hasPrefix("events.webhooks.") && name.hasSuffix(".url")
    }

    /// What the daemon read when it started.
    let start: PreparedStart
    /// The values in force before the reload.
    let former: ReloadableSettings
    /// What the reload has read.
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
            if takesEffect(name) {
                result.changed.append(name)
                result.changes += changes(name)
            } else {
                result.needsRestart.append(pending(name))
            }
        }
        return result
    }

    /// The settings after the reload.
    var next: ReloadableSettings {
        var texts = inForce
        for name in configured.names where takesEffect(name) { texts[name] = configured[name] }
        return ReloadableSettings(
            read, backup: read.settings.backup, backupPolicy: backupPolicy,
            // The verifier caches what it has verified, so it stays unless its roots have changed.
            verifier: read.files.tokenRoots == former.tokenRoots
                ? former.verifier
                : ReloadableSettings.verifier(read, environment: start.settings.environment),
            portalFiles: keepsPortalFiles ? former.portalFiles : read.settings.portal?.tlsFiles,
            provisioning: provisioning, sessions: sessions, texts: texts)
    }

    private func takesEffect(_ name: String) -> Bool {
        ReloadableSettings.names.contains(name) && !(keepsPortalFiles && name.hasPrefix("portal.tls."))
            && !((isEnvironmentChanged || isStoreChanged) && name.hasPrefix("backup.missing."))
            && !(former.provisioning == nil && name.hasPrefix("provisioning."))
            && !(isEnvironmentChanged && Self.dependentOnEnvironment.contains(name))
    }

    private static let dependentOnEnvironment = [
        "provisioning.trust-roots", "provisioning.validity-period", "sessions.validation-hosts",
    ]

    /// nil if the daemon has no issuer socket, because nothing would use the settings. If the new settings no longer
    /// define in-app provisioning, the issuer socket stays until a restart, but the daemon refuses its requests.
    private var provisioning: ReloadableProvisioning? {
        guard let former = former.provisioning else { return nil }
        guard var next = ReloadableProvisioning(read) else { return former.disabled }
        if isEnvironmentChanged { (next.policy.trust, next.roots) = (former.policy.trust, former.roots) }
        return next
    }

    private var sessions: SessionPolicy {
        var policy = read.settings.sessions
        if isEnvironmentChanged { policy.validationHosts = former.sessions.validationHosts }
        return policy
    }

    /// Whether the portal's TLS files stay as they are: no portal is running that could use new files, or the new
    /// settings define no portal.
    private var keepsPortalFiles: Bool { start.settings.portal == nil || read.settings.portal == nil }

    /// Whether the file names another environment. The daemon keeps the environment of its start, so the defaults that
    /// depend on the environment stay too.
    private var isEnvironmentChanged: Bool { read.settings.environment != start.settings.environment }

    /// Whether the file names another kind of store, on which the defaults of `backup.missing` depend.
    private var isStoreChanged: Bool { read.settings.store.kind != start.settings.store.kind }

    private var backupPolicy: BackupPolicy {
        guard isEnvironmentChanged || isStoreChanged else { return read.settings.backupPolicy }
        var policy = former.backupPolicy
        policy.isScheduled = read.settings.backupPolicy.isScheduled
        return policy
    }

    /// Whether the content of the files that the setting names has changed. False for files that the daemon reads again
    /// by itself when they change.
    private func isContentChanged(_ name: String) -> Bool {
        switch name {
        case "trust.token-roots": former.tokenRoots != read.files.tokenRoots
        case "trust.certificate-issuers": former.certificateIssuers != read.files.certificateIssuers
        case "events.webhooks": former.webhooks != read.settings.events.webhooks
        case "apple.gateway.trust-roots": start.files.gatewayRoots != read.files.gatewayRoots
        case "provisioning.trust-roots":
            former.provisioning != nil && former.provisioning?.roots != read.files.provisioning?.roots
        case "merchant-tokens.usage-information.private-key":
            start.files.usageInformationKey?.publicKey != read.files.usageInformationKey?.publicKey
        case "domain-check.trust-roots": start.files.domainCheckRoots != read.files.domainCheckRoots
        default: false
        }
    }

    /// The entries of a setting whose values differ. If the values are the same and only the content of the files that
    /// the setting names differs, returns one change that says so.
    private func changes(_ name: String) -> [SettingsReload.Change] {
        let (former, new) = (inForce[name] ?? [], configured[name] ?? [])
        guard former != new else {
            let value = new.count == 1 ? new.first?.value : nil
            return [change(name, value, to: Self.withChangedFiles(value ?? "the same values"))]
        }
        let added = new.map(\.name).filter { name in !former.contains { $0.name == name } }
        return (former.map(\.name) + added).compactMap { entry in
            let before = former.first { $0.name == entry }?.value
            let after = new.first { $0.name == entry }?.value
            // A field that a new entry of a list leaves unset has the value `-`. This is not a change.
            let hasChanged = (before ?? SettingInForce.noValue) != (after ?? SettingInForce.noValue)
            return hasChanged ? change(entry, before, to: after) : nil
        }
    }

    private func change(_ entry: String, _ before: String?, to after: String?) -> SettingsReload.Change {
        let isShown = !Self.isConfidential(entry)
        return SettingsReload.Change(name: entry, before: isShown ? before : nil, after: isShown ? after : nil)
    }

    private func pending(_ name: String) -> SettingsReload.Pending {
        guard !Self.isConfidential(name) else { return SettingsReload.Pending(name: name, values: nil) }
        let (old, new) = (Self.text(inForce[name]), Self.text(configured[name]))
        return SettingsReload.Pending(
            name: name,
            values: SettingsReload.Values(inForce: old, configured: old == new ? Self.withChangedFiles(new) : new))
    }

    private static func text(_ entries: [SettingTexts.Entry]?) -> String {
        (entries ?? []).map(\.value).joined(separator: ", ")
    }

    private static func withChangedFiles(_ value: String) -> String { "\(value), with changed file contents" }
}
