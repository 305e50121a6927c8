import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

struct CertificateTimeline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Show a chart of when the certificates of active keys expire.",
        discussion: """
            Each column is a month, and each line is a merchant. For more than \(ExpiryTimeline.maximumRows) \
            merchants, a table shows how many certificates expire in each month. An expired certificate is shown in \
            the current month.
            """,
        examples: [
            "certificate timeline",
            "certificate timeline --within 1y --svg expiry.svg",
        ])

    @Option(
        help: ArgumentHelp(
            "Show the certificates that expire within this time, such as 2y or 180d, at most 4y. Default: 2y.",
            valueName: "duration"), transform: TimelineLength.parse)
    var within: TimelineLength?

    @Option(
        help: ArgumentHelp("Write the chart to this file, as SVG.", valueName: "file"), completion: .file())
    var svg: String?

    @Flag(help: "Overwrite an existing SVG file.")
    var force = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let file = svg.map { OutputFile($0, overwrites: force) }
        try file?.checkWritable()
        let now = Timestamp(Date())
        let monthCount = (within ?? .standard).monthCount
        let end = ExpiryTimeline.end(monthCount: monthCount, now: now)
        let keys = try await global.withAdminClient { try await $0.keys(endingBefore: end, in: nil) }
        let timeline = ExpiryTimeline(keys.items, now: now, monthCount: monthCount)
        if let file {
            try file.write(Data(timeline.svg.utf8))
            if file.isStandardOutput { return }
            global.printer.note("wrote \(file.path)")
        }
        switch global.output {
        case .table: global.printer.show(timeline.blocks)
        case .json: global.printer.json(list: timeline.endings.map(Self.document))
        }
    }

    private static func document(_ ending: ExpiryTimeline.Ending) -> JSONValue {
        .object(
            JSONObject(members: [
                .init(name: "merchantIdentifier", value: .string(ending.key.merchantIdentifier.rawValue)),
                .init(name: "publicKeyHash", value: .string(ending.key.publicKeyHash.base64)),
                .init(name: "state", value: .string(ending.key.state.rawValue)),
                .init(name: "notAfter", value: .string(ending.end.rfc3339)),
            ]))
    }
}

/// The length of a timeline on the command line: years such as `2y`, or a duration such as `180d`.
package struct TimelineLength: Hashable, Sendable {
    /// The current month and the 24 months after it. A certificate of Apple is valid for about 25 months.
    static let standard = TimelineLength(monthCount: 25)
    private static let longestYears = 4

    /// The number of months, including the current month.
    package let monthCount: Int

    package static func parse(_ text: String) throws -> TimelineLength {
        let months: Int
        if text.hasSuffix("y"), let years = Int(text.dropLast()), (1...longestYears).contains(years) {
            months = years * 12
        } else if let seconds = DurationText.seconds(text), (1...longestYears * 366 * 86_400).contains(seconds) {
            // Rounded up to whole months.
            months = min((seconds + 30 * 86_400 - 1) / (30 * 86_400), longestYears * 12)
        } else {
            // The argument parser prints "The value '…' is invalid for '…': " before this message.
            throw ValidationError("it is not a time such as 2y or 180d, at most \(longestYears)y")
        }
        return TimelineLength(monthCount: months + 1)
    }
}
