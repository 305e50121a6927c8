/// Numbers in the form of SVG attributes. Positions and widths are percentages, so that a chart fits every screen
/// without scaling its text.
enum ChartValue {
    /// - Parameter share: 0 to 1. A value outside this range becomes 0 or 1.
    static func percent(_ share: Double) -> String {
        let bounded = share.isFinite ? min(max(share, 0), 1) : 0
        let hundredths = Int((bounded * 10_000).rounded())
        return "\(hundredths / 100).\(CivilTime.digits(hundredths % 100, 2))%"
    }

    /// The largest width of a label with a month and a year, as a share of a chart on a screen of 320 pixels.
    private static let labelWidth = 0.28

    /// How a text is aligned at a position, so that the text stays inside the chart.
    static func anchor(at share: Double) -> String {
        if share < labelWidth / 2 { return "start" }
        return share > 1 - labelWidth / 2 ? "end" : "middle"
    }

    /// Which labels a narrow screen does not show, because they would overlap the previous label.
    ///
    /// - Parameter shares: the positions of the labels, in ascending order.
    static func areMinor(labelsAt shares: [Double]) -> [Bool] {
        var end = -1.0
        return shares.map { share in
            let begin =
                switch anchor(at: share) {
                case "start": share
                case "end": share - labelWidth
                default: share - labelWidth / 2
                }
            guard begin >= end else { return true }
            end = begin + labelWidth
            return false
        }
    }
}

/// A list of numbers with bars.
struct BarListContent {
    struct Bar {
        let label: String
        let value: String
        let share: String
    }

    let isEmpty: Bool
    let bars: [Bar]

    init(_ rows: [(label: String, count: Int)], _ text: PageText) {
        let largest = rows.map { $0.count }.max() ?? 0
        isEmpty = largest == 0
        bars =
            isEmpty
            ? []
            : rows.map { row in
                Bar(
                    label: row.label, value: text.number(row.count),
                    share: ChartValue.percent(Double(row.count) / Double(largest)))
            }
    }
}
