import MerchantCore
import MerchantOperations
import MetricsKit
import Vocabulary

/// The metrics of merchants, keys, rolls, events, registrations, backups and findings. They are read from the database
/// for each page.
struct StateMetrics {
    let status: Status
    /// The time when the first active key pair is left without a valid certificate, which may be in the past. nil if no
    /// key pair is active.
    let soonestExpiry: Timestamp?
    /// The last rotation of the master key or the data key; nil if there was none.
    let rotation: KeyRotation?

    func append(to page: inout MetricsText) {
        appendCounts(to: &page)
        appendFindings(to: &page)
        appendExpiries(to: &page)
        appendBackups(to: &page)
    }

    private func appendCounts(to page: inout MetricsText) {
        func gauge(_ name: String, _ help: String, _ value: Int?) { page.append(gauge: name, help, value) }
        gauge("merchantkeyd_merchants", "Merchants that were not removed.", status.counts.merchants)
        gauge(
            "merchantkeyd_merchants_below_target", "Merchants with fewer active key pairs than their target.",
            status.counts.merchantsBelowTarget)
        page.append(
            "merchantkeyd_key_pairs", .gauge, "Key pairs by state.",
            KeyState.allCases.map { .init([("state", $0.rawValue)], status.counts.keyPairs[$0] ?? 0) })
        page.append(
            "merchantkeyd_rolls", .gauge, "Rolls by state, including finished and abandoned ones.",
            RollState.allCases.map { .init([("state", $0.rawValue)], status.rolls[$0] ?? 0) })
        gauge("merchantkeyd_certificates", "Stored certificates.", status.counts.certificates)
        gauge(
            "merchantkeyd_active_key_pairs_with_expired_certificate",
            "Active key pairs whose certificates have all expired.", status.counts.activeWithExpiredCertificate)
        gauge(
            "merchantkeyd_certificate_earliest_expiry_timestamp_seconds",
            "Time when the first active key pair is left without a valid certificate; may be in the past.",
            soonestExpiry.map { Int($0.millisecondsSince1970 / 1000) })
        func webhookMetric(_ name: String, _ help: String, _ value: (WebhookState) -> Int?) {
            page.append(
                name, .gauge, help,
                status.webhooks.compactMap { webhook in
                    value(webhook).map { .init([("webhook", webhook.name)], $0) }
                })
        }
        webhookMetric("merchantkeyd_events_undelivered", "Events that are not yet delivered to the webhook.") {
            $0.undelivered
        }
        webhookMetric(
            "merchantkeyd_events_parked",
            "Events that the daemon sends again only on request, because delivery failed for 24 hours."
        ) { $0.parked }
        webhookMetric(
            "merchantkeyd_events_oldest_undelivered_timestamp_seconds",
            "Time of the oldest event that is not yet delivered to the webhook."
        ) { $0.oldestUndelivered.map { Int($0.millisecondsSince1970 / 1000) } }
        gauge("merchantkeyd_audit_records", "Records in the audit chain.", status.counts.auditRecords)
        gauge(
            "merchantkeyd_registrations",
            "Registrations that should exist at Apple, whether or not they exist there now.",
            status.counts.registrations)
        gauge(
            "merchantkeyd_registrations_drifting", "Registrations that are known to differ from Apple's record.",
            status.counts.registrationsDrifting)
        gauge(
            "merchantkeyd_registration_calls_unresolved", "Calls to Apple whose outcome is unknown.",
            status.counts.registrationCallsOpen)
        gauge(
            "merchantkeyd_key_rotation_left",
            "Private keys that the current rotation of the master key or the data key has not re-encrypted yet.",
            rotation.map { $0.state == .sealing ? max(0, $0.total - $0.done) : 0 })
        gauge(
            "merchantkeyd_key_rotation_started_timestamp_seconds",
            "Time at which the current rotation of the master key or the data key began.",
            rotation.flatMap { $0.state == .finished ? nil : Int($0.startedAt.millisecondsSince1970 / 1000) })
    }

    /// One sample for each code and severity, including those without a finding, so that an alert sees the change from
    /// 0.
    private func appendFindings(to page: inout MetricsText) {
        let findings = Dictionary(status.findings.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
        page.append(
            "merchantkeyd_findings", .gauge,
            "Merchants or key pairs that the finding of each code and severity concerns; 1 for the daemon itself.",
            StatusFinding.Code.allCases.flatMap { code in
                Severity.allCases.map { severity in
                    MetricsText.Sample(
                        [("code", code.rawValue), ("severity", severity.rawValue)],
                        findings[code]?.counts[severity] ?? 0)
                }
            })
    }

    private func appendExpiries(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_key_pairs_expiring", .gauge,
            "Active key pairs whose certificate expires in each of the next weeks; week 0 is the next 7 days.",
            status.expiringByWeek.enumerated().map { week, entry in
                MetricsText.Sample([("week", String(week))], entry.expiring)
            })
    }

    private func appendBackups(to page: inout MetricsText) {
        page.append(
            gauge: "merchantkeyd_backup_last_verified_timestamp_seconds",
            "Time of the newest verified backup. Absent if there is none, or if its time is in the future.",
            status.backups.newestVerifiedCreatedAt.map { Int($0.millisecondsSince1970 / 1000) })
        page.append(
            gauge: "merchantkeyd_merchants_awaiting_backup",
            "Merchants whose newest key pair is in no verified backup.",
            status.backups.merchantsAwaitingBackup)
    }
}
