import MerchantCore
import Vocabulary

/// A picture of the certificates in use of a merchant's key pairs: the validity period of each certificate, and how
/// many days are left. The description says the same as the picture.
struct KeyTimelineContent {
    struct Row {
        let key: String
        let state: String
        let stateName: String
        let days: String
        /// Whether payments will fail soon if nobody acts.
        let isUrgent: Bool
        let textY: Int
        let barY: Int
        let x: String
        let width: String
        /// The mark of today. It crosses the bar, but not the texts above and below.
        let today: Line
    }

    /// A vertical line.
    struct Line {
        let x: String
        let top: Int
        let bottom: Int
    }

    struct Tick {
        let x: String
        let anchor: String
        let label: String
        /// Whether a narrow screen does not show the label.
        let isMinor: Bool
        let top: Int
        let bottom: Int
        let labelY: Int
    }

    /// The picture shows at most this many certificates.
    private static let maximumRows = 12
    private static let rowHeight = 44
    /// The top of the first row, below the label of today.
    private static let top = 24
    private static let urgentDays = 30

    let height: Int
    /// The position of the axis.
    let bottom: Int
    let title: String
    let description: String
    let ticks: [Tick]
    let rows: [Row]
    /// The line from the label of today to the marks.
    let today: Line
    let todayY = 13
    let todayAnchor: String
    let todayLabel: String
    /// A sentence that says how many of all certificates the picture shows; nil if it shows all.
    let more: String?

    /// - Parameter keys: in the order of the rows.
    /// - Returns: nil if no key pair has a certificate.
    init?(_ keys: [PageKey], _ text: PageText) {
        let all = keys.filter { $0.certificate != nil }
        let shown = [PageKey](all.prefix(Self.maximumRows))
        guard let axis = TimeAxis(shown, now: text.now) else { return nil }
        let bottom = Self.top + shown.count * Self.rowHeight
        var rows: [Row] = []
        for (index, key) in shown.enumerated() {
            if let row = Self.row(key, axis, y: Self.top + index * Self.rowHeight, text) { rows.append(row) }
        }
        self.rows = rows
        self.bottom = bottom
        height = bottom + 28
        let minor = ChartValue.areMinor(labelsAt: axis.ticks.map(\.share))
        ticks = zip(axis.ticks, minor).map { tick, isMinor in
            Tick(
                x: ChartValue.percent(tick.share), anchor: ChartValue.anchor(at: tick.share),
                label: tick.isYear ? String(CivilTime(tick.time).year) : text.monthOfYear(tick.time),
                isMinor: isMinor, top: bottom, bottom: bottom + 6, labelY: bottom + 22)
        }
        let share = axis.share(of: text.now)
        today = Line(x: ChartValue.percent(share), top: todayY + 4, bottom: Self.top - 2)
        todayAnchor = ChartValue.anchor(at: share)
        todayLabel = text[.keysToday]
        title = text[.keysTimelineTitle]
        let summary = text.counted(
            .keysTimelineSummary, all.count,
            ["begin": text.day(axis.begin).text, "end": text.day(axis.end).text])
        description = ([summary] + shown.compactMap { Self.sentence($0, text) }).joined(separator: " ")
        more =
            all.count > shown.count
            ? text.filled(
                .keysTimelineMore, ["shown": text.number(shown.count), "count": text.number(all.count)]) : nil
    }

    private static func row(_ key: PageKey, _ axis: TimeAxis, y: Int, _ text: PageText) -> Row? {
        guard let certificate = key.certificate else { return nil }
        let begin = axis.share(of: certificate.notBefore)
        let state = key.keyPair.state
        return Row(
            key: key.shortHash, state: text.named(.keyState, state.rawValue), stateName: state.rawValue,
            days: text.remaining(until: certificate.notAfter),
            isUrgent: state == .current && text.daysLeft(until: certificate.notAfter) < urgentDays, textY: y + 14,
            barY: y + 22, x: ChartValue.percent(begin),
            // A bar of a few days is still visible.
            width: ChartValue.percent(max(axis.share(of: certificate.notAfter) - begin, 0.004)),
            today: Line(x: ChartValue.percent(axis.share(of: text.now)), top: y + 19, bottom: y + 35))
    }

    private static func sentence(_ key: PageKey, _ text: PageText) -> String? {
        guard let certificate = key.certificate else { return nil }
        return text.filled(
            .keysTimelineRow,
            [
                "key": key.shortHash, "state": text.named(.keyState, key.keyPair.state.rawValue),
                "begin": text.day(certificate.notBefore).text, "end": text.day(certificate.notAfter).text,
                "days": text.remaining(until: certificate.notAfter),
            ])
    }
}

/// The horizontal axis of the picture: from the first to the last day of the certificates in the picture, and including
/// today.
private struct TimeAxis {
    struct Tick {
        let time: Timestamp
        let share: Double
        let isYear: Bool
    }

    private static let maximumTicks = 5
    /// The distances between ticks in months. After the last one, the distance doubles.
    private static let distances = [1, 2, 3, 6, 12, 24, 60, 120]

    let begin: Timestamp
    let end: Timestamp

    /// - Returns: nil if no key pair has a certificate.
    init?(_ keys: [PageKey], now: Timestamp) {
        let certificates = keys.compactMap(\.certificate)
        guard let begin = certificates.map(\.notBefore).min(), let end = certificates.map(\.notAfter).max() else {
            return nil
        }
        self.begin = CivilTime.nearest(to: min(begin, now))
        self.end = CivilTime.nearest(to: max(end, now))
    }

    /// The position of a time on the axis, from 0 to 1.
    func share(of time: Timestamp) -> Double {
        let first = Double(begin.millisecondsSince1970)
        let length = Double(end.millisecondsSince1970) - first
        guard length > 0 else { return 0 }
        return min(max((Double(time.millisecondsSince1970) - first) / length, 0), 1)
    }

    var ticks: [Tick] {
        let first = CivilTime(begin).monthNumber
        let last = CivilTime(end).monthNumber
        var distance = Self.distances.first { (last - first) / $0 < Self.maximumTicks } ?? 240
        while (last - first) / distance >= Self.maximumTicks { distance *= 2 }
        var ticks: [Tick] = []
        var month = (first / distance + 1) * distance
        while month <= last {
            let time = CivilTime.begin(ofMonth: month)
            if begin <= time, time <= end {
                ticks.append(Tick(time: time, share: share(of: time), isYear: distance.isMultiple(of: 12)))
            }
            month += distance
        }
        return ticks
    }
}
