import EventDelivery
import KeyCustody
import Logging
import MerchantCore
import MerchantOperations
import PaymentToken
import PortalServer
import Vocabulary

/// The settings, and the contents of the files that they name, that a reload replaces.
struct ReloadableSettings: Sendable {
    /// The names of these settings. A list of mappings is one setting.
    static let names: Set<String> = [
        "callers", "log.level", "log.requests", "portal.tls.certificate", "portal.tls.private-key",
        "portal.tls.client-ca", "trust.token-roots", "trust.certificate-issuers", "backup.directory", "backup.every",
        "backup.keep", "backup.missing.warn-after", "backup.missing.critical-after", "events.retention-days",
        "events.webhooks", "roll.renew-before", "roll.renewal-jitter", "roll.quiet-period",
        "roll.promote-on-decryption", "roll.finish-when-quiet", "provisioning.enabled", "provisioning.trust-roots",
        "provisioning.validity-period", "provisioning.audit-last-four-digits", "provisioning.activation.command",
        "provisioning.activation.url", "provisioning.activation.time-limit", "sessions.time-limit",
        "sessions.validation-hosts", "sessions.unregistered-domains",
    ]

    let callers: CallerPolicy
    let logLevel: Logger.Level
    let logsRequests: Bool
    let webhooks: [Webhook]
    let eventRetention: Duration
    let backup: BackupSettings?
    let backupPolicy: BackupPolicy
    let rolls: RollPolicy
    let tokenRoots: [TrustRoot]?
    /// Verifies the signatures of payment tokens with ``tokenRoots``.
    let verifier: SignatureVerifier
    let certificateIssuers: CertificateIssuers?
    /// nil if the daemon has no portal.
    let portalFiles: PortalTLS.Files?
    /// nil if the daemon has no issuer socket.
    let provisioning: ReloadableProvisioning?
    let sessions: SessionPolicy
    /// The values in force of all settings, also of those that only a restart changes.
    let texts: SettingTexts

    /// The settings with which the daemon starts.
    init(_ start: PreparedStart) {
        self.init(
            start, backup: start.settings.backup, backupPolicy: start.settings.backupPolicy,
            verifier: Self.verifier(start, environment: start.settings.environment),
            portalFiles: start.settings.portal?.tlsFiles, provisioning: ReloadableProvisioning(start),
            sessions: start.settings.sessions, texts: SettingTexts(start.settings.inForce))
    }

    /// Only for this type and ``SettingsComparison``.
    ///
    /// - Parameter read: contains all other values.
    init(
        _ read: PreparedStart, backup: BackupSettings?, backupPolicy: BackupPolicy, verifier: SignatureVerifier,
        portalFiles: PortalTLS.Files?, provisioning: ReloadableProvisioning?, sessions: SessionPolicy,
        texts: SettingTexts
    ) {
        let settings = read.settings
        callers = settings.policy
        (logLevel, logsRequests) = (settings.log.level, settings.log.logsRequests)
        (webhooks, eventRetention) = (settings.events.webhooks, settings.events.retention)
        rolls = settings.rolls
        (tokenRoots, certificateIssuers) = (read.files.tokenRoots, read.files.certificateIssuers)
        (self.backup, self.backupPolicy) = (backup, backupPolicy)
        self.verifier = verifier
        self.portalFiles = portalFiles
        self.provisioning = provisioning
        self.sessions = sessions
        self.texts = texts
    }

    static func verifier(_ read: PreparedStart, environment: Environment) -> SignatureVerifier {
        SignatureVerifier(environment: environment, trustRoots: read.files.tokenRoots ?? [.appleRootCAG3])
    }
}
