package import FoundationEssentials
import Glibc

/// The header `Retry-After`: seconds, or a date. Source: RFC 9110 section 10.2.3.
package enum RetryAfter {
    /// One day. A longer pause is shortened to this.
    private static let longest: Duration = .seconds(86_400)

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Returns: 0 seconds to 1 day; nil if the text is neither a number of seconds nor a date in the form that RFC
    ///   9110 prefers (IMF-fixdate).
    package static func pause(_ text: String, now: Date) -> Duration? {
        let seconds: Double
        if let number = Int(text) {
            seconds = Double(number)
        } else if let date = date(text) {
            seconds = (date - now.timeIntervalSince1970).rounded(.up)
        } else {
            return nil
        }
        return seconds < 86_400 ? .seconds(max(0, seconds)) : longest
    }

    /// Reads a date such as `Sun, 06 Nov 1994 08:49:37 GMT`. Returns seconds since 1970.
    private static func date(_ text: String) -> Double? {
        let match = text.wholeMatch(of: /[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT/)
        guard let (_, day, monthName, year, hour, minute, second) = match?.output,
            let month = months.firstIndex(of: monthName), let day = Int32(day), let year = Int32(year),
            let hour = Int32(hour), let minute = Int32(minute), let second = Int32(second)
        else { return nil }
        var time = tm()
        (time.tm_mday, time.tm_mon, time.tm_year) = (day, Int32(month), year - 1900)
        (time.tm_hour, time.tm_min, time.tm_sec) = (hour, minute, second)
        return Double(timegm(&time))
    }
}
