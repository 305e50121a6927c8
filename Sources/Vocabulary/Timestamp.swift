package import FoundationEssentials

/// A moment, to the millisecond. Written as RFC 3339 in UTC: `2026-11-21T04:53:15Z`, with `.123` where it has one.
package struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package init(_ date: Date) { millisecondsSince1970 = Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    /// Reads RFC 3339 with any offset, with or without fractions of a second.
    package init?(rfc3339 text: some StringProtocol) {
        guard text.utf8.count <= 40 else { return nil }
        let text = String(text).uppercased()
        let plain = Date.ISO8601FormatStyle()
        if let date = (try? plain.parse(text))
            ?? (try? plain.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted)
                .parse(text))
        {
            self.init(date)
        } else {
            return nil
        }
    }

    package var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1000) }

    package var rfc3339: String {
        let seconds = Date(timeIntervalSince1970: Double(millisecondsSince1970.floorDivided(by: 1000)))
        let text = seconds.formatted(.iso8601)
        let fraction = millisecondsSince1970 - millisecondsSince1970.floorDivided(by: 1000) * 1000
        guard fraction != 0 else { return text }
        let digits = String(1000 + fraction).dropFirst()
        return "\(text.dropLast()).\(digits)Z"
    }

    package var description: String { rfc3339 }

    package func adding(_ duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(
            millisecondsSince1970: millisecondsSince1970 + seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
