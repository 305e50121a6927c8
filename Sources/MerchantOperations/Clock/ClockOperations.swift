package import MerchantCore
import Vocabulary

/// Stores the confirmed time, and reports a machine clock that differs from the confirmed time: see ``ConfirmedTime``.
package struct ClockOperations: Sendable {
    package typealias Records = Transactions<
        any SealedKeyReading & RollReading, any DaemonStateWriting
    >

    private let records: Records
    private let currentPolicy: CurrentValue<RollPolicy>
    private var policy: RollPolicy { currentPolicy.value }
    private let confirmedTime: ConfirmedTime

    package init(records: Records, policy: CurrentValue<RollPolicy>, confirmedTime: ConfirmedTime) {
        self.records = records
        currentPolicy = policy
        self.confirmedTime = confirmedTime
    }

    /// How often the daemon has accepted the machine's clock although it differed from the confirmed time.
    package var acceptances: Int { confirmedTime.acceptances }

    /// A difference between the machine's clock and the confirmed time is reported if it is larger than this.
    private static let reportedDifference = Duration.seconds(3_600)
    /// The name of the stored value with the confirmed time.
    private static let confirmedTimeValueName = "confirmedTime"
    /// The finding counts at most this many keys and this many rolls.
    private static let maximumCounted = 1000

    /// The confirmed time that the last run of the daemon stored; if no run stored a confirmed time, the time of the
    /// last audit record.
    ///
    /// - Returns: nil for a new database.
    package static func lastConfirmedTime(
        in reading: any DaemonStateReading & AuditReading
    ) throws -> ConfirmedTime.SavedTime? {
        if let saved = try reading.daemonValue(confirmedTimeValueName).flatMap(ConfirmedTime.SavedTime.init(text:)) {
            return saved
        }
        let lastRecord = try reading.auditRecords(AuditFilter(), from: nil, oldestFirst: false, limit: 1).first
        return lastRecord.map { ConfirmedTime.SavedTime(time: $0.entry.at) }
    }

    /// Stores the confirmed time for the next start.
    package func storeConfirmedTime() async throws {
        let text = confirmedTime.savedTime.text
        try await records.write { try $0.setDaemonValue(Self.confirmedTimeValueName, text) }
    }

    /// The finding that the machine's clock differs from the confirmed time by more than an hour.
    ///
    /// The finding is a warning while irreversible work waits until the daemon accepts the machine's clock, else a
    /// notice.
    ///
    /// - Returns: nil if the difference is at most an hour.
    package func clockFinding() async throws -> StatusFinding? {
        let time = confirmedTime.reading()
        guard time.difference.magnitude > Self.reportedDifference else { return nil }
        let waiting = try await records.read { try waitingWork(at: time, in: $0) }
        let side = time.difference < .zero ? "behind" : "ahead of"
        let consequence =
            waiting.isEmpty
            ? "No scheduled work is delayed by this difference"
            : "Until the daemon accepts the machine's clock, these wait: \(waiting.joined(separator: ", "))"
        return StatusFinding(
            severity: waiting.isEmpty ? .notice : .warning, code: .clockUnconfirmed,
            detail:
                "the machine's clock is \(time.difference.magnitude.daysHoursMinutes) \(side) the daemon's confirmed time, since \(time.differsSince): the clock was set, or the machine was off. \(consequence). If the clock is wrong, set it. If the clock is right, the daemon accepts it at \(time.acceptedAt); 'key destroy --after 0s' and 'roll finish --now' do not wait until then"
        )
    }

    /// The irreversible work that is due by the later of the two times, but not yet by the earlier one: private keys
    /// that are scheduled for destruction, and rolls whose old key is revoked after a quiet period without requests.
    private func waitingWork(
        at time: ClockReading, in reading: any SealedKeyReading & RollReading
    ) throws -> [String] {
        func count(_ due: (Timestamp) throws -> Int) rethrows -> Int { try due(time.latest) - due(time.earliest) }
        let keys = try count { try reading.keyPairsDueForDestruction(at: $0, limit: Self.maximumCounted).count }
        let rolls =
            policy.finishesWhenQuiet
            ? try count {
                try reading.rollsIdleSince(notAfter: $0.adding(.zero - policy.quietPeriod), limit: Self.maximumCounted)
                    .count
            } : 0
        return (keys > 0 ? [keys.counted("private key to destroy", "private keys to destroy")] : [])
            + (rolls > 0 ? [rolls.counted("quiet roll to finish", "quiet rolls to finish")] : [])
    }
}
