import FoundationEssentials
import OutboundHTTP
import Testing

@Suite struct RetryTests {
    @Test func `each failure doubles the pause up to the longest`() {
        let backoff = Backoff(first: .seconds(1), longest: .seconds(5))
        #expect((1...5).map(backoff.pause) == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
        #expect(backoff.pause(after: .max) == .seconds(5))
    }

    @Test func `half of a pause is random, and no pause follows the last attempt`() {
        let policy = RetryPolicy()
        #expect(policy.pause(after: 1, retryAfter: nil, jitter: 0) == .milliseconds(250))
        #expect(policy.pause(after: 1, retryAfter: nil, jitter: 1) == .milliseconds(500))
        #expect(policy.pause(after: 2, retryAfter: nil, jitter: 1) == .seconds(1))
        #expect(policy.pause(after: 3, retryAfter: nil, jitter: 0) == nil)
    }

    @Test func `a pause that the server asks for is used, and one of more than 30 seconds ends the call`() {
        let policy = RetryPolicy()
        #expect(policy.pause(after: 1, retryAfter: .seconds(30), jitter: 0) == .seconds(30))
        #expect(policy.pause(after: 1, retryAfter: .seconds(31), jitter: 0) == nil)
    }

    @Test(arguments: [
        ("7", 7.0), ("0", 0), ("-5", 0), ("99999999", 86_400), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 08:49:07 GMT", 0), ("Mon, 06 Nov 1995 08:49:37 GMT", 86_400),
    ])
    func `Retry-After is read as seconds or a date, and bounded by 0 and one day`(text: String, seconds: Double) {
        // Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110 section 5.6.7.
        #expect(RetryAfter.pause(text, now: Date(timeIntervalSince1970: 784_111_777)) == .seconds(seconds))
    }

    @Test(arguments: ["", "soon", "1.5", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"])
    func `an invalid Retry-After is ignored`(text: String) {
        #expect(RetryAfter.pause(text, now: Date(timeIntervalSince1970: 0)) == nil)
    }
}
