package import Vocabulary

/// The texts of a page with their values: numbers, dates and durations in the forms of the language.
package struct PageText: Sendable {
    private let texts: Texts
    /// The time for which the page is rendered.
    let now: Timestamp

    package init(_ texts: Texts, now: Timestamp) {
        self.texts = texts
        self.now = now
    }

    subscript(_ key: TextKey) -> String { texts.plain(key.rawValue) }

    /// The text with values in place of the placeholders, such as `{name}`.
    func filled(_ key: TextKey, _ values: [String: String]) -> String { Self.fill(self[key], values) }

    /// The text in its singular or plural form, depending on `count`, which also replaces the placeholder `{count}`.
    func counted(_ key: CountedTextKey, _ count: Int, _ values: [String: String] = [:]) -> String {
        var values = values
        values["count"] = number(count)
        return Self.fill(texts.counted(key.rawValue, count), values)
    }

    /// A text from a family, such as the name of a state.
    func named(_ family: TextFamily, _ member: String, _ values: [String: String] = [:]) -> String {
        Self.fill(texts.plain("\(family.rawValue).\(member)"), values)
    }

    /// The number with separators between thousands.
    func number(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.utf8.count - index).isMultiple(of: 3) { text += self[.siteThousandsSeparator] }
            text.append(digit)
        }
        return number < 0 ? "-\(text)" : text
    }

    /// A number of bytes as a number of kilobytes of 1,024 bytes, rounded down.
    func kilobytes(_ bytes: Int) -> String { number(bytes / 1024) }

    /// Replaces the placeholders in one pass, so that a value that contains a placeholder stays unchanged.
    private static func fill(_ pattern: String, _ values: [String: String]) -> String {
        guard pattern.utf8.contains(UInt8(ascii: "{")) else { return pattern }
        let pieces = pattern.split(separator: "{", omittingEmptySubsequences: false)
        var text = String(pieces.first ?? "")
        for piece in pieces.dropFirst() {
            let parts = piece.split(separator: "}", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, let value = values[String(parts[0])] {
                text.append(value)
                text.append(contentsOf: parts[1])
            } else {
                text.append("{")
                text.append(contentsOf: piece)
            }
        }
        return text
    }
}

/// A time as a page shows it. `iso` is for programs, `text` for people.
struct TimeContent {
    let iso: String
    let text: String
}

extension PageText {
    func day(_ time: Timestamp) -> TimeContent {
        let civil = CivilTime(time)
        return TimeContent(iso: civil.isoDay, text: filled(.dateDay, marks(civil)))
    }

    func time(_ time: Timestamp) -> TimeContent {
        let civil = CivilTime(time)
        return TimeContent(iso: civil.isoTime, text: filled(.dateTime, marks(civil)))
    }

    func dayOfYear(_ time: Timestamp) -> String { filled(.dateDayOfYear, marks(CivilTime(time))) }

    func monthOfYear(_ time: Timestamp) -> String { filled(.dateMonthOfYear, marks(CivilTime(time))) }

    private func marks(_ civil: CivilTime) -> [String: String] {
        [
            "day": String(civil.day), "month": named(.month, String(civil.month)), "year": String(civil.year),
            "hour": CivilTime.digits(civil.hour, 2), "minute": CivilTime.digits(civil.minute, 2),
        ]
    }

    /// The number of whole days from now to `end`, rounded down; negative after `end`.
    func daysLeft(until end: Timestamp) -> Int {
        let days = (Double(end.millisecondsSince1970) - Double(now.millisecondsSince1970)) / 86_400_000
        return Int(min(max(days.rounded(.down), -9_999_999), 9_999_999))
    }

    /// How long a certificate is still valid, or how long ago it expired, as a text.
    func remaining(until end: Timestamp) -> String {
        let days = daysLeft(until: end)
        if days > 0 { return counted(.dateDaysLeft, days) }
        return days == 0 ? self[.dateEndsToday] : counted(.dateDaysAgo, -days)
    }
}
