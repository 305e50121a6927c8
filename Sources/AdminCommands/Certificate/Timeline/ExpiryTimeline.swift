package import Vocabulary
package import WireAPI

/// The active key pairs whose last certificate has expired, or expires in the ``months`` of the timeline.
package struct ExpiryTimeline: Sendable {
    /// The expiry of a key pair: the time at which its last certificate expires.
    package struct Ending: Sendable {
        package let key: KeyDocument
        package let end: Timestamp
        /// The month of the expiry, counted from January of the year 0. For an expired certificate, the first month of
        /// the timeline.
        package let month: Int
    }

    package struct Row: Sendable {
        package let merchant: MerchantIdentifier
        /// The earliest expiry first.
        package let endings: [Ending]
    }

    /// A timeline with more merchants than this shows the number of certificates by month, not one row for each
    /// merchant.
    package static let maximumRows = 40

    package let now: Timestamp
    /// The months of the timeline, counted from January of the year 0. The first one is the current month.
    package let months: Range<Int>
    /// The earliest expiry first.
    package let endings: [Ending]

    /// - Parameter monthCount: at least 1.
    package init(_ keys: [KeyDocument], now: Timestamp, monthCount: Int) {
        let first = Self.month(of: now)
        let months = first..<(first + monthCount)
        self.now = now
        self.months = months
        endings = keys.compactMap { key -> Ending? in
            guard key.state.isActive, let end = key.certificates.map(\.notAfter).max() ?? key.notAfter else {
                return nil
            }
            let month = max(first, Self.month(of: end))
            return months.contains(month) ? Ending(key: key, end: end, month: month) : nil
        }.sorted { ($0.end, $0.key.publicKeyHash.hex) < ($1.end, $1.key.publicKeyHash.hex) }
    }

    /// One row for each merchant, in the order of the earliest expiry.
    package var rows: [Row] {
        Dictionary(grouping: endings, by: \.key.merchantIdentifier).map { Row(merchant: $0, endings: $1) }
            .sorted { ($0.endings[0].end, $0.merchant.rawValue) < ($1.endings[0].end, $1.merchant.rawValue) }
    }

    /// How many of the ``endings`` are in a month.
    ///
    /// - Parameter state: counts only key pairs in this state; nil for all states.
    package func count(in month: Int, _ state: KeyState? = nil) -> Int {
        endings.count { $0.month == month && (state == nil || $0.key.state == state) }
    }

    /// The first instant after the last month of a timeline that begins now.
    package static func end(monthCount: Int, now: Timestamp) -> Timestamp {
        let next = Self.month(of: now) + monthCount
        // Valid for the years 0 to 9999.
        return Timestamp(rfc3339: "\(name(ofMonth: next))-01T00:00:00Z") ?? now
    }

    /// The year and the month, such as `2026-11`.
    package static func name(ofMonth month: Int) -> String {
        "\(digits(month / 12, 4))-\(digits(month % 12 + 1, 2))"
    }

    /// The position of a time's day in its month: 0 for the first day, and less than 1 for every other day.
    static func share(ofMonthAt time: Timestamp) -> Double {
        Double((Int(time.rfc3339.dropFirst(8).prefix(2)) ?? 1) - 1) / 31
    }

    private static func month(of time: Timestamp) -> Int {
        let text = time.rfc3339
        return (Int(text.prefix(4)) ?? 0) * 12 + (Int(text.dropFirst(5).prefix(2)) ?? 1) - 1
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
    }
}
