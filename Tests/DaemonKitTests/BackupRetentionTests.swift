import DaemonKit
import Testing
import Vocabulary

@Suite struct BackupRetentionTests {
    static let day = Duration.seconds(86_400)
    static let start = Timestamp(millisecondsSince1970: 1_795_237_200_000)
    let retention = BackupRetention(keep: 3, interval: day)

    static func names(days: ClosedRange<Int>) -> [String] {
        days.map { BackupRetention.name(at: start.adding(day * $0)) }
    }

    @Test func `the oldest backups beyond the number that is kept are removed`() {
        #expect(retention.expired(among: Self.names(days: 0...2), at: Self.start.adding(Self.day * 2)) == [])
        #expect(
            retention.expired(among: Self.names(days: 0...4), at: Self.start.adding(Self.day * 4))
                == Self.names(days: 0...1))
    }

    @Test(arguments: [60, 3_600, 30 * 86_400, 365 * 86_400])
    func `backups that were created while the clock was ahead remove no older one`(seconds: Int) {
        let now = Self.start.adding(Self.day * 2)
        let early = (1...3).map { BackupRetention.name(at: now.adding(.seconds(seconds * $0))) }
        let backups = Self.names(days: 0...2) + early
        #expect(retention.expired(among: backups, at: now) == [])
        // Once the clock has passed their times, they count as the newest.
        #expect(
            retention.expired(among: backups, at: now.adding(.seconds(seconds * 3) + Self.day * 3))
                == Self.names(days: 0...2))
    }
}
