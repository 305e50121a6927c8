package import Vocabulary

/// The number of certificates of active key pairs that expire in one week.
package struct PageWeek: Hashable, Sendable {
    /// The first instant of the week.
    package let begin: Timestamp
    package let count: Int

    package init(begin: Timestamp, count: Int) {
        self.begin = begin
        self.count = count
    }
}

/// A picture of the certificates that expire, by week. The description and a table say the same as the picture.
struct WeekChartContent {
    struct Bar {
        /// The number above the bar.
        struct Count {
            let x: String
            let y: Int
            let text: String
            /// Whether a narrow screen has no room for the number.
            let isMinor: Bool
        }

        let severityName: String
        let x: String
        let y: Int
        let width: String
        let height: Int
        let middle: String
        /// nil for 0.
        let count: Count?
        let label: String
        /// Whether a narrow screen has no room for the label.
        let isMinor: Bool
        let labelY: Int
        let week: TimeContent
        let total: String
    }

    /// The picture shows at most this many weeks.
    static let maximumWeeks = 13
    private static let barHeight = 120
    private static let top = 24

    let height: Int
    let baseline: Int
    let title: String
    let description: String
    let bars: [Bar]

    /// - Returns: nil if no certificate expires in these weeks. The page then says so instead of showing an empty
    ///   picture.
    init?(_ weeks: [PageWeek], _ text: PageText) {
        let weeks = [PageWeek](weeks.prefix(Self.maximumWeeks))
        guard let first = weeks.first, let last = weeks.last else { return nil }
        let largest = weeks.map(\.count).max() ?? 0
        guard largest > 0 else { return nil }
        baseline = Self.top + Self.barHeight
        height = Self.top + Self.barHeight + 28
        var bars: [Bar] = []
        for (index, week) in weeks.enumerated() {
            bars.append(Self.bar(week, at: index, of: weeks.count, largest: largest, text))
        }
        self.bars = bars
        title = text[.fleetWeeksTitle]
        let total = weeks.map(\.count).reduce(0, +)
        var sentences = [
            text.counted(
                .fleetWeeksSummary, total,
                ["begin": text.day(first.begin).text, "end": text.day(last.begin.adding(.seconds(6 * 86_400))).text])
        ]
        if let peak = weeks.first(where: { $0.count == largest }) {
            sentences.append(
                text.filled(
                    .fleetWeeksPeak, ["week": text.day(peak.begin).text, "count": text.number(peak.count)]))
        }
        description = sentences.joined(separator: " ")
    }

    private static func bar(
        _ week: PageWeek, at index: Int, of count: Int, largest: Int, _ text: PageText
    ) -> Bar {
        let share = largest > 0 ? Double(week.count) / Double(largest) : 0
        // A bar of a small number is still visible.
        let height = week.count > 0 ? max(3, Int((share * Double(barHeight)).rounded())) : 0
        let y = top + barHeight - height
        let middle = ChartValue.percent((Double(index) + 0.5) / Double(count))
        let number = compact(week.count, text)
        return Bar(
            severityName: severityName(of: week, text), x: ChartValue.percent((Double(index) + 0.12) / Double(count)),
            y: y, width: ChartValue.percent(0.76 / Double(count)), height: height, middle: middle,
            count: week.count > 0
                ? Bar.Count(x: middle, y: y - 6, text: number, isMinor: number.utf8.count > 2) : nil,
            label: text.dayOfYear(week.begin), isMinor: index % 4 != 2, labelY: top + barHeight + 20,
            week: text.day(week.begin), total: text.number(week.count))
    }

    /// The name of the bar's color: the severity that a certificate of a current key pair has if it expires at the start
    /// of the week; `notice` if it has none yet.
    private static func severityName(of week: PageWeek, _ text: PageText) -> String {
        let days = text.daysLeft(until: week.begin)
        if days < 7 { return "critical" }
        return days < 30 ? "warning" : "notice"
    }

    /// The number, in thousands from 10,000 on, so that it fits above a bar.
    private static func compact(_ count: Int, _ text: PageText) -> String {
        count < 10_000 ? String(count) : text.filled(.opsThousands, ["count": text.number(count / 1000)])
    }
}
