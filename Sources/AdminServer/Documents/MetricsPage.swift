import Glibc
import HTTPKit
import MerchantCore
import Vocabulary

/// The response to `GET /metrics`, in Prometheus' text format 0.0.4.
struct MetricsPage {
    let counts: StoreCounts
    /// The time when the first active key pair is left without a valid certificate, which may be in the past. nil if no
    /// key pair is active.
    let soonestExpiry: Timestamp?
    let rolls: [RollState: Int]
    let webhooks: [WebhookState]
    /// The last rotation of the master key or the data key; nil if there was none.
    let rotation: KeyRotation?
    let requests: RequestMetrics
    let version: String
    let startedAt: Timestamp
    let residentBytes: Int?

    var text: String {
        var page = MetricsText()
        func gauge(_ name: String, _ help: String, _ value: Int?) { page.append(gauge: name, help, value) }
        page.append(
            "merchantkeyd_build_info", .gauge, "The daemon's version.", [.init([("version", version)], 1)])
        gauge("merchantkeyd_merchants", "Merchants that were not removed.", counts.merchants)
        gauge(
            "merchantkeyd_merchants_below_target", "Merchants with fewer active key pairs than their target.",
            counts.merchantsBelowTarget)
        page.append(
            "merchantkeyd_key_pairs", .gauge, "Key pairs by state.",
            KeyState.allCases.map { .init([("state", $0.rawValue)], counts.keyPairs[$0] ?? 0) })
        page.append(
            "merchantkeyd_rolls", .gauge, "Rolls by state, including finished and abandoned ones.",
            RollState.allCases.map { .init([("state", $0.rawValue)], rolls[$0] ?? 0) })
        gauge("merchantkeyd_certificates", "Stored certificates.", counts.certificates)
        gauge(
            "merchantkeyd_active_key_pairs_with_ended_certificate",
            "Active key pairs whose certificates have all expired.", counts.activeWithExpiredCertificate)
        gauge(
            "merchantkeyd_certificate_soonest_end_timestamp_seconds",
            "Time when the first active key pair is left without a valid certificate; may be in the past.",
            soonestExpiry.map { Int($0.millisecondsSince1970 / 1000) })
        func webhookMetric(_ name: String, _ help: String, _ value: (WebhookState) -> Int?) {
            page.append(
                name, .gauge, help,
                webhooks.compactMap { webhook in
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
        gauge("merchantkeyd_audit_records", "Records in the audit chain.", counts.auditRecords)
        gauge(
            "merchantkeyd_registrations",
            "Registrations that should exist at Apple, whether or not they exist there now.",
            counts.registrations)
        gauge(
            "merchantkeyd_registrations_drifting", "Registrations that are known to differ from Apple's record.",
            counts.registrationsDrifting)
        gauge(
            "merchantkeyd_registration_calls_open", "Calls to Apple whose outcome is unknown.",
            counts.registrationCallsOpen)
        gauge(
            "merchantkeyd_key_rotation_left",
            "Private keys that the current rotation of the master key or the data key has not re-encrypted yet.",
            rotation.map { $0.state == .sealing ? max(0, $0.total - $0.done) : 0 })
        gauge(
            "merchantkeyd_key_rotation_started_timestamp_seconds",
            "Time at which the current rotation of the master key or the data key began.",
            rotation.flatMap { $0.state == .finished ? nil : Int($0.startedAt.millisecondsSince1970 / 1000) })
        page.append(requests)
        gauge(
            "process_start_time_seconds", "Time at which the daemon started.",
            Int(startedAt.millisecondsSince1970 / 1000))
        gauge("process_resident_memory_bytes", "Memory that the daemon uses.", residentBytes)
        return page.text
    }
}

/// The memory of this process, from proc(5).
enum ProcessMemory {
    /// The resident memory in bytes; nil if it cannot be read. The second number of /proc/self/statm is this size in
    /// pages.
    static func residentBytes() -> Int? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        let numbers = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        guard numbers.count > 1, let pages = Int(numbers[1]) else { return nil }
        return pages * sysconf(CInt(_SC_PAGESIZE))
    }
}
