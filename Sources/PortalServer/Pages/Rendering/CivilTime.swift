import Vocabulary

/// A time in the Gregorian calendar, in UTC. A time outside the years 1 to 9999 becomes the first or the last time of
/// these years, so that every year has four digits.
struct CivilTime {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int

    private static let first: Int64 = -62_135_596_800_000
    private static let last: Int64 = 253_402_300_799_999
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// From 1 March of the year 0 to 1 January 1970.
    private static let daysBefore1970: Int64 = 719_468

    init(_ time: Timestamp) {
        let milliseconds = Self.nearest(to: time).millisecondsSince1970
        let shifted = milliseconds + Self.daysBefore1970 * Self.millisecondsPerDay
        let days = Int(shifted / Self.millisecondsPerDay)
        let seconds = Int(shifted % Self.millisecondsPerDay / 1000)
        // A year begins in March here, so that the leap day is its last day. An era has 400 years.
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        hour = seconds / 3600
        minute = seconds / 60 % 60
        second = seconds % 60
    }

    /// The time itself in the years 1 to 9999; otherwise the first or the last time of these years.
    static func nearest(to time: Timestamp) -> Timestamp {
        Timestamp(millisecondsSince1970: min(max(time.millisecondsSince1970, first), last))
    }

    /// The number of months since January of the year 0.
    var monthNumber: Int { year * 12 + month - 1 }

    /// The first instant of a month.
    ///
    /// - Parameter number: a ``monthNumber``.
    static func begin(ofMonth number: Int) -> Timestamp {
        let month = number % 12 + 1
        let yearFromMarch = month > 2 ? number / 12 : number / 12 - 1
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5
        let leapDays = yearFromMarch / 4 - yearFromMarch / 100 + yearFromMarch / 400
        let days = Int64(yearFromMarch * 365 + leapDays + dayOfYear) - daysBefore1970
        return Timestamp(millisecondsSince1970: days * millisecondsPerDay)
    }

    var isoDay: String { "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))" }

    var isoTime: String { "\(isoDay)T\(Self.digits(hour, 2)):\(Self.digits(minute, 2)):\(Self.digits(second, 2))Z" }

    static func digits(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
