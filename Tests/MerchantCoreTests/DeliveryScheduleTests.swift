import MerchantCore
import Testing
import Vocabulary

@Suite struct DeliveryScheduleTests {
    let now = Timestamp(millisecondsSince1970: 1_700_000_000_000)

    func delivery(failures: Int, firstFailed: Timestamp?) -> PendingDelivery {
        PendingDelivery(
            event: StoredEvent(sequence: 1, id: "", event: Event(.belowTarget, .notice, at: now, detail: "d")),
            lane: "",
            failures: failures, firstFailed: firstFailed, due: now)
    }

    @Test func `the pause doubles up to five minutes, and jitter shortens it by at most a half`() {
        let pauses = (1...20).map { DeliverySchedule.pause(afterFailures: $0, jitter: 0) }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.allSatisfy { $0 <= .seconds(300) } && pauses.last == .seconds(300))
        #expect(DeliverySchedule.pause(afterFailures: .max, jitter: 0) == .seconds(300))
        for (pause, failures) in zip(pauses, 1...) {
            #expect(DeliverySchedule.pause(afterFailures: failures, jitter: 1) == pause / 2)
        }
    }

    @Test func `a failure 24 hours or more after the first failure parks an event`() {
        let first = now.adding(.seconds(-24 * 3_600))
        func next(_ firstFailed: Timestamp?) -> Timestamp? {
            DeliverySchedule.next(
                after: delivery(failures: 40, firstFailed: firstFailed), failedAt: now, retryAfter: nil, jitter: 0)
        }
        #expect(next(first) == nil)
        #expect(next(first.adding(.milliseconds(1))) == now.adding(.seconds(300)))
        #expect(next(nil) == now.adding(.seconds(300)))
    }

    @Test func `a longer pause that the receiver asks for is respected`() {
        func next(_ wait: Duration) -> Timestamp? {
            DeliverySchedule.next(
                after: delivery(failures: 2, firstFailed: now), failedAt: now, retryAfter: wait, jitter: 0)
        }
        #expect(next(.seconds(60)) == now.adding(.seconds(60)) && next(.seconds(1)) == now.adding(.seconds(4)))
    }
}
