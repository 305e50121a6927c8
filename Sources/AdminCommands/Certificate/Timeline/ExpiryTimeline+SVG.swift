import Vocabulary
import WireAPI

/// The chart as an SVG file, which needs no other file and is readable in light and in dark mode.
extension ExpiryTimeline {
    private static let width = 960.0
    private static let left = 280.0
    private static let top = 40.0
    private static let rowHeight = 26.0
    private static let barChartHeight = 220.0

    private static let style = """
        text { font: 13px system-ui, sans-serif; fill: #1d1d1f; }
        .background { fill: #ffffff; }
        .muted { fill: #5c5c61; }
        .grid { stroke: #d5d5d9; }
        .current { fill: #0a58b8; }
        .standby { fill: #1f7a3d; }
        .retiring { fill: #8f5600; }
        @media (prefers-color-scheme: dark) {
        text { fill: #f2f2f4; }
        .background { fill: #1c1c1e; }
        .muted { fill: #aeaeb4; }
        .grid { stroke: #48484c; }
        .current { fill: #6cb0ff; }
        .standby { fill: #69d08a; }
        .retiring { fill: #f0b050; }
        }
        """

    package var svg: String {
        let rows = self.rows
        let showsRows = rows.count <= Self.maximumRows
        let chartHeight = showsRows ? Double(max(rows.count, 1)) * Self.rowHeight : Self.barChartHeight
        let bottom = Self.top + chartHeight
        let content =
            showsRows
            ? rows.enumerated().map { row($1, y: Self.top + (Double($0) + 0.5) * Self.rowHeight) }.joined()
            : months.map { bar($0, bottom: bottom) }.joined()
        let height = bottom + 60
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.text(Self.width)) \(Self.text(height))" role="img">
            <title>Certificates that expire from \(Self.name(ofMonth: months.lowerBound)) to \
            \(Self.name(ofMonth: months.upperBound - 1))</title>
            <desc>\(endings.count.counted("certificate of an active key expires", "certificates of active keys expire")).</desc>
            <style>
            \(Self.style)
            </style>
            <rect class="background" width="100%" height="100%"/>
            \(grid(bottom: bottom))\(content)\(legend(y: bottom + 44))</svg>

            """
    }

    private var monthWidth: Double { (Self.width - Self.left - 20) / Double(months.count) }

    private func x(ofMonth month: Int, share: Double = 0) -> Double {
        Self.left + (Double(month - months.lowerBound) + share) * monthWidth
    }

    /// A line and a label for each quarter.
    private func grid(bottom: Double) -> String {
        months.filter { $0.isMultiple(of: 3) }.map { month in
            let x = Self.text(self.x(ofMonth: month))
            return """
                <line class="grid" x1="\(x)" x2="\(x)" y1="\(Self.text(Self.top - 6))" y2="\(Self.text(bottom))"/>
                <text class="muted" x="\(x)" y="\(Self.text(Self.top - 14))" text-anchor="middle">\
                \(Self.name(ofMonth: month))</text>

                """
        }.joined()
    }

    /// The merchant's identifier, a line, and a mark for each expiry. The identifier is not escaped, because it contains
    /// no character that has a meaning in XML.
    private func row(_ row: Row, y: Double) -> String {
        let identifier = row.merchant.rawValue
        let shown = identifier.count <= 36 ? identifier : "…" + identifier.suffix(35)
        let label = """
            <text x="\(Self.text(Self.left - 16))" y="\(Self.text(y + 4))" text-anchor="end">\(shown)</text>
            <line class="grid" x1="\(Self.text(Self.left))" x2="\(Self.text(Self.width - 20))" y1="\(Self.text(y))" \
            y2="\(Self.text(y))"/>

            """
        return label + row.endings.map { mark($0, y: y) }.joined()
    }

    private func mark(_ ending: Ending, y: Double) -> String {
        let share = ending.end < now ? 0 : Self.share(ofMonthAt: ending.end)
        let title =
            "\(ending.key.merchantIdentifier), \(ending.key.state) key \(ending.key.publicKeyHash): \(ending.end)"
        return Self.shape(ending.key.state, x: x(ofMonth: ending.month, share: share), y: y, title: title)
    }

    /// A mark whose shape and colour show the state of the key.
    private static func shape(_ state: KeyState, x: Double, y: Double, title: String) -> String {
        let (left, top) = (text(x), text(y))
        let shape =
            switch state {
            case .current: #"<circle class="current" cx="\#(left)" cy="\#(top)" r="6""#
            case .standby:
                #"<rect class="standby" x="-5" y="-5" width="10" height="10" transform="translate(\#(left) \#(top))""#
            // A timeline has only active key pairs.
            case .retiring, .pending, .revoked, .destroyed:
                #"<path class="retiring" d="M0 -7 L7 6 L-7 6 Z" transform="translate(\#(left) \#(top))""#
            }
        let element = shape.dropFirst().prefix { $0 != " " }
        return "\(shape)><title>\(title)</title></\(element)>\n"
    }

    private func bar(_ month: Int, bottom: Double) -> String {
        let total = count(in: month)
        guard total > 0 else { return "" }
        let largest = months.map { count(in: $0) }.max() ?? total
        // Leaves 20 units for the number above the bar.
        let height = max(2, Double(total) / Double(largest) * (Self.barChartHeight - 20))
        let x = self.x(ofMonth: month, share: 0.1)
        return """
            <rect class="current" x="\(Self.text(x))" y="\(Self.text(bottom - height))" \
            width="\(Self.text(monthWidth * 0.8))" height="\(Self.text(height))"><title>\(Self.name(ofMonth: month)): \
            \(total)</title></rect>
            <text x="\(Self.text(x + monthWidth * 0.4))" y="\(Self.text(bottom - height - 5))" \
            text-anchor="middle">\(total)</text>

            """
    }

    private func legend(y: Double) -> String {
        guard rows.count <= Self.maximumRows else {
            return "<text class=\"muted\" x=\"16\" y=\"\(Self.text(y))\">certificates that expire, by month</text>\n"
        }
        return [KeyState.current, .standby, .retiring].enumerated().map { index, state in
            let x = Self.left + Double(index) * 140
            return Self.shape(state, x: x, y: y - 4, title: "\(state)")
                + "<text class=\"muted\" x=\"\(Self.text(x + 14))\" y=\"\(Self.text(y))\">\(state) key</text>\n"
        }.joined()
    }

    /// A number with at most one decimal place.
    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
