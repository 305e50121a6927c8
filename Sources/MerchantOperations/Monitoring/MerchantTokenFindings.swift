import MerchantCore
import Vocabulary

extension Monitoring {
    /// If a notification of a merchant token has waited for longer than this, `status` warns.
    static let lateTokenNotification = Duration.seconds(3_600)
    /// `status` reports unknown events if there were more than this many in the last one to two hours.
    static let manyUnknownEvents = 1_000

    /// Findings about notifications of merchant tokens.
    static func findings(
        for queue: TokenNotificationQueue, _ problems: RecentNotifications.Problems, _ policy: MerchantTokenPolicy,
        in reading: any MerchantReading, at now: Timestamp
    ) throws -> [StatusFinding] {
        var findings: [StatusFinding] = []
        func add(_ severity: StatusFinding.Severity, _ code: StatusFinding.Code, _ detail: String) {
            findings.append(StatusFinding(severity: severity, code: code, detail: detail))
        }
        if let oldest = queue.oldest, oldest.adding(lateTokenNotification) <= now {
            add(
                .warning, .tokenNotificationsWaiting,
                "\(queue.waiting.counted("notification")) of merchant tokens wait for their events to be fetched from Apple, the oldest since \(oldest): check the connection to Apple and the identity certificate; Apple keeps an event for 7 days"
            )
        }
        if problems.overLimit > 0 {
            add(
                .warning, .tokenNotificationsRefused,
                "\(problems.overLimit.counted("notification")) of merchant tokens were refused in the last two hours, because too many wait: check the connection to Apple; if clients other than Apple send notifications, set 'merchant-tokens.sources'"
            )
        }
        if let merchant = policy.merchantIdentifier,
            try reading.merchantOfNotificationsWithoutSecret(by: policy) == nil
        {
            add(
                .warning, .tokenNotificationsIgnored,
                "'merchant-tokens.merchant-identifier' is \(merchant), which is no merchant of this daemon, so notifications without a secret path are ignored: run 'merchant add \(merchant)', or correct the setting"
            )
        } else if problems.withoutMerchant > 0 {
            add(
                .warning, .tokenNotificationsIgnored,
                "\(problems.withoutMerchant.counted("notification")) of merchant tokens without a secret path were ignored in the last two hours, because there is not exactly one platform integrator: set 'merchant-tokens.merchant-identifier', or use the URLs of 'merchant-token notification-url'"
            )
        }
        if problems.unknownEvents > manyUnknownEvents {
            add(
                .notice, .tokenEventsUnknown,
                "Apple does not know, or refuses with status 403, the events of \(problems.unknownEvents.counted("notification")) of merchant tokens of the last two hours: clients other than Apple may send notifications, so set 'merchant-tokens.sources'; if the log shows status 403, check the identity certificate"
            )
        }
        return findings
    }
}
