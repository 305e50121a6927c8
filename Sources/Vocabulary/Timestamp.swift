package import FoundationEssentials

/// A point in time with a resolution of one millisecond. Its text is RFC 3339 in UTC: `2026-11-21T04:53:15Z`, or
/// `2026-11-21T04:53:15.123Z` if the milliseconds are not 0.
package struct Timestamp: TextValue, Comparable {
    package let millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package init(_ date: Date) { millisecondsSince1970 = Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    /// Reads RFC 3339 with any time zone offset, with or without fractions of a second.
    package init?(rfc3339 text: some StringProtocol) {
        // Refuses long texts before the slow parser reads them.
        guard text.utf8.count <= 40 else { return nil }
        if let milliseconds = Self.millisecondsOfOwnFormat(Array(text.utf8)) {
            self.init(millisecondsSince1970: milliseconds)
            return
        }
        // RFC 3339 also permits a lower-case `t` and `z`.
        let text = String(text).uppercased()
        let format = Date.ISO8601FormatStyle()
        // The first format reads only whole seconds; the second also reads fractions of a second.
        if let date = (try? format.parse(text))
            ?? (try? format.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted)
                .parse(text))
        {
            self.init(date)
        } else {
            return nil
        }
    }

    package var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1000) }

    package var rfc3339: String {
        if let text = Self.ownFormat(of: millisecondsSince1970) { return text }
        let seconds = Date(timeIntervalSince1970: Double(millisecondsSince1970.floorDivided(by: 1000)))
        let text = seconds.formatted(.iso8601)
        let fraction = millisecondsSince1970 - millisecondsSince1970.floorDivided(by: 1000) * 1000
        guard fraction != 0 else { return text }
        let digits = String(1000 + fraction).dropFirst()
        return "\(text.dropLast()).\(digits)Z"
    }

    package init?(text: String) { self.init(rfc3339: text) }

    package var text: String { rfc3339 }

    package static func refusal(of text: String) -> String {
        "is not a time, expected RFC 3339 such as 2026-11-21T04:53:15Z"
    }

    package func adding(_ duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(
            millisecondsSince1970: millisecondsSince1970 + seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}

extension Timestamp {
    /// Reads the format that ``rfc3339`` writes, for the years 1970 to 9999.
    ///
    /// Foundation's parser also reads every other form of RFC 3339, but is 20 times slower, and its first use takes a
    /// millisecond. Speed matters here: a list of a million keys contains several million timestamps.
    ///
    /// - Returns: the milliseconds since 1970; nil for any other text.
    private static func millisecondsOfOwnFormat(_ text: [UInt8]) -> Int64? {
        guard text.count == 20 || text.count == 24, text.last == UInt8(ascii: "Z"), text[10] == UInt8(ascii: "T"),
            text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"), text.count == 20 || text[19] == UInt8(ascii: "."),
            let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
            let hour = number(text[11..<13]), let minute = number(text[14..<16]), let second = number(text[17..<19]),
            let fraction = text.count == 24 ? number(text[20..<23]) : 0,
            year >= 1970, (1...12).contains(month), day >= 1, day <= lastDay(ofMonth: month, year: year), hour < 24,
            minute < 60, second < 60
        else { return nil }
        // Counts the days since 1970. A year begins in March here, so that the leap day is its last day.
        // 719,468 is the number of days from 1 March of the year 0 to 1 January 1970.
        let yearFromMarch = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days =
            yearFromMarch * 365 + yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400 + dayOfYear - 719_468
        return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction
    }

    /// Writes what ``rfc3339`` returns, for the years 1970 to 9999. Foundation's formatter writes any year, but is many
    /// times slower, and a page of a list contains hundreds of timestamps.
    ///
    /// - Returns: nil for any other year.
    private static func ownFormat(of milliseconds: Int64) -> String? {
        // 253,402,300,800 seconds after 1970, the year 10000 begins.
        guard (0..<253_402_300_800_000).contains(milliseconds) else { return nil }
        let (days, time) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        // Counts from 1 March of the year 0, as ``millisecondsOfOwnFormat(_:)`` does. 400 years have 146,097 days, a
        // century has 36,524 (the last one of the four has a day more), and four years have 1,461.
        let daysFromMarch = days + 719_468
        let (fourCenturies, dayOfFourCenturies) = daysFromMarch.quotientAndRemainder(dividingBy: 146_097)
        let century = min(dayOfFourCenturies / 36_524, 3)
        let dayOfCentury = dayOfFourCenturies - century * 36_524
        let (fourYears, dayOfFourYears) = dayOfCentury.quotientAndRemainder(dividingBy: 1_461)
        let year = min(dayOfFourYears / 365, 3)
        let dayOfYear = dayOfFourYears - year * 365
        // From March on, five months have 153 days.
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let calendarYear = fourCenturies * 400 + century * 100 + fourYears * 4 + year + (month >= 10 ? 1 : 0)
        let fraction = time % 1000
        return String(unsafeUninitializedCapacity: 24) { text in
            var next = 0
            func write(_ number: Int64, digits: Int, after separator: Unicode.Scalar?) {
                if let separator {
                    text[next] = UInt8(ascii: separator)
                    next += 1
                }
                var rest = number
                for index in (next..<next + digits).reversed() {
                    text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                next += digits
            }
            write(calendarYear, digits: 4, after: nil)
            write(month < 10 ? month + 3 : month - 9, digits: 2, after: "-")
            write(day, digits: 2, after: "-")
            write(time / 3_600_000, digits: 2, after: "T")
            write(time / 60_000 % 60, digits: 2, after: ":")
            write(time / 1000 % 60, digits: 2, after: ":")
            if fraction != 0 { write(fraction, digits: 3, after: ".") }
            text[next] = UInt8(ascii: "Z")
            return next + 1
        }
    }

    private static func lastDay(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
