import Vocabulary

/// Counts the problems of notifications in the present and the previous period of one hour.
struct RecentNotifications {
    static let period = Duration.seconds(3_600)

    struct Problems: Equatable {
        /// Notifications for which the daemon knows no merchant: their URL has no secret, or the merchant was removed.
        var withoutMerchant = 0
        /// Notifications that were refused because too many notifications were waiting.
        var overLimit = 0
        /// Events that the daemon will not fetch, because Apple does not know them or answers with 403.
        var unknownEvents = 0
    }

    private var startedAt: Timestamp?
    private var present = Problems()
    private var previous = Problems()

    mutating func add(_ notification: MerchantTokenMetrics.Notification, at now: Timestamp) {
        switch notification {
        case .noMerchant:
            advance(to: now)
            present.withoutMerchant += 1
        case .overLimit:
            advance(to: now)
            present.overLimit += 1
        default: break
        }
    }

    mutating func addUnknownEvent(at now: Timestamp) {
        advance(to: now)
        present.unknownEvents += 1
    }

    mutating func problems(at now: Timestamp) -> Problems {
        advance(to: now)
        return Problems(
            withoutMerchant: present.withoutMerchant + previous.withoutMerchant,
            overLimit: present.overLimit + previous.overLimit,
            unknownEvents: present.unknownEvents + previous.unknownEvents)
    }

    private mutating func advance(to now: Timestamp) {
        guard let startedAt else {
            self.startedAt = now
            return
        }
        // A clock that was set back begins a new period too.
        let isPresent = startedAt <= now && now < startedAt.adding(Self.period)
        guard !isPresent else { return }
        let isNext = startedAt <= now && now < startedAt.adding(Self.period * 2)
        (previous, present) = (isNext ? present : Problems(), Problems())
        self.startedAt = now
    }
}
