import MerchantOperations
import Testing

@Suite struct DurationTextTests {
    @Test(arguments: [
        (0, "0 days 0 hours 0 minutes"), (90_060, "1 day 1 hour 1 minute"), (183_779, "2 days 3 hours 2 minutes"),
    ])
    func `a duration is in days, hours and minutes, each in the singular or the plural`(seconds: Int, text: String) {
        #expect(Duration.seconds(seconds).daysHoursMinutes == text)
    }
}
