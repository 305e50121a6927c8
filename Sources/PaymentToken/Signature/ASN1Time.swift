import FoundationEssentials
import Vocabulary

/// A time in an X.509 certificate or a CMS message: a UTCTime `YYMMDDHHMMSSZ` or a GeneralizedTime `YYYYMMDDHHMMSSZ`.
/// Offsets from UTC and fractions of a second are not accepted.
///
/// Source: RFC 5280 section 4.1.2.5, RFC 5652 section 11.3.
struct ASN1Time: Hashable, Comparable, Sendable, CustomStringConvertible {
    static let utcTimeTag: UInt8 = 0x17
    static let generalizedTimeTag: UInt8 = 0x18

    let secondsSince1970: Int64

    /// - Returns: nil if the text does not have the form for `tag`, or is not a date and time that exists.
    init?(tag: UInt8, _ text: some BidirectionalCollection<UInt8>) {
        guard text.last == UInt8(ascii: "Z") else { return nil }
        // Each number has two digits. A GeneralizedTime begins with two numbers for the year, a UTCTime with one.
        var numbers: [Int] = []
        let digits = text.dropLast().map { Int($0) - 0x30 }
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        for index in stride(from: 0, to: digits.count, by: 2) { numbers.append(digits[index] * 10 + digits[index + 1]) }
        let year: Int
        switch (tag, numbers.count) {
        // The years 50 to 99 mean 1950 to 1999, and 00 to 49 mean 2000 to 2049 (RFC 5280 section 4.1.2.5.1).
        case (Self.utcTimeTag, 6): year = (numbers[0] >= 50 ? 1900 : 2000) + numbers[0]
        case (Self.generalizedTimeTag, 7):
            year = numbers[0] * 100 + numbers[1]
            numbers.removeFirst()
        default: return nil
        }
        let (month, day, hour, minute, second) = (numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
        guard (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year), hour < 24, minute < 60,
            second < 60
        else { return nil }
        secondsSince1970 =
            Int64(Self.dayNumber(year, month, day)) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    var timestamp: Timestamp { Timestamp(millisecondsSince1970: secondsSince1970 * 1000) }
    var date: Date { timestamp.date }
    var description: String { timestamp.rfc3339 }

    static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year.isMultiple(of: 4) && !year.isMultiple(of: 100)) || year.isMultiple(of: 400) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days since 1970-01-01 in the Gregorian calendar. The calculation starts each year in March, so
    /// that the leap day is the last day of a year. `(153 * m + 2) / 5` is the number of days before month `m`, where
    /// March is 0. 719,468 days lie between 0000-03-01 and 1970-01-01.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
