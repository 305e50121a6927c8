/// Numbers in the form of SVG attributes. Positions and widths are percentages, so that a chart fits every screen
/// without scaling its text.
enum ChartValue {
    /// - Parameter share: 0 to 1; other values become the nearest of these.
    static func percent(_ share: Double) -> String {
        let bounded = share.isFinite ? min(max(share, 0), 1) : 0
        let hundredths = Int((bounded * 10_000).rounded())
        return "\(hundredths / 100).\(CivilTime.digits(hundredths % 100, 2))%"
    }

    /// How a text is aligned at a position, so that it stays inside of the chart.
    static func anchor(at share: Double) -> String {
        if share < 0.05 { return "start" }
        return share > 0.95 ? "end" : "middle"
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
