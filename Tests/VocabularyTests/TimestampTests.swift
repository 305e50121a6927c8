import Foundation
import Testing
import Vocabulary

@Suite struct TimestampTests {
    @Test(
        arguments: [
            ("2023-03-20T20:46:55Z", 1_679_345_215_000), ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.500Z", -500),
            ("2038-01-19T03:14:08.007Z", 2_147_483_648_007),
        ] as [(String, Int64)])
    func `RFC 3339 is parsed and written`(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.millisecondsSince1970 == milliseconds)
        #expect(Timestamp(millisecondsSince1970: milliseconds).rfc3339 == text)
    }

    @Test func `a time on each day of 800 years is written as Foundation writes it, and read back`() {
        func expected(_ milliseconds: Int64) -> String {
            let seconds = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
            let fraction = milliseconds % 1000
            return fraction == 0 ? seconds : "\(seconds.dropLast()).\(String(1000 + fraction).dropFirst())Z"
        }
        var random = SystemRandomNumberGenerator()
        for day in 0..<292_200 as Range<Int64> {
            // Each day at another time, in every third case with a fraction.
            let time = Int64.random(in: 0..<86_400, using: &random) * 1000 + (day % 3 == 0 ? day % 1000 : 0)
            let milliseconds = day * 86_400_000 + time
            let timestamp = Timestamp(millisecondsSince1970: milliseconds)
            let text = expected(milliseconds)
            guard timestamp.rfc3339 == text, Timestamp(rfc3339: text) == timestamp else {
                Issue.record("\(milliseconds): \(timestamp.rfc3339), \(text)")
                return
            }
        }
        let last = Timestamp(millisecondsSince1970: 253_402_300_799_999)
        #expect(last.rfc3339 == "9999-12-31T23:59:59.999Z" && Timestamp(rfc3339: last.rfc3339) == last)
    }

    @Test func `a time with an offset is converted to UTC`() {
        #expect(Timestamp(rfc3339: "2023-03-20T21:46:55+01:00") == Timestamp(rfc3339: "2023-03-20T20:46:55Z"))
        #expect(Timestamp(rfc3339: "2023-03-20t20:46:55z") == Timestamp(rfc3339: "2023-03-20T20:46:55Z"))
    }

    @Test(arguments: [
        "", "2023", "2023-03-20", "2023-03-20 20:46:55", "2023-13-20T20:46:55Z", "2023-03-00T20:46:55Z",
        "2023-03-32T20:46:55Z", "now",
        String(repeating: "2", count: 50),
    ])
    func `text that is not RFC 3339 is refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }
}
