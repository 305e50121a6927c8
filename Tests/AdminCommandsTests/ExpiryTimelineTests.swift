import AdminCommands
import Foundation
import MerchantTestSupport
import Testing
import Vocabulary
import WireAPI

/// `certificate timeline`.
@Suite struct ExpiryTimelineTests {
    private static let now: Timestamp = "2026-11-21T04:53:15Z"

    private static func key(_ merchant: String, _ state: KeyState, until end: String) -> KeyDocument {
        var key = KeyDocument(
            PublicKeyHash(of: Array("\(merchant)\(end)".utf8)), of: .init(stringLiteral: merchant), algorithm: .ecV1,
            purpose: .paymentProcessing, origin: "generated", createdAt: Samples.time, state: state,
            since: Samples.time)
        key.notAfter = .init(stringLiteral: end)
        return key
    }

    private static func timeline(_ keys: [KeyDocument], months: Int = 25) -> ExpiryTimeline {
        ExpiryTimeline(keys, now: now, monthCount: months)
    }

    private static func lines(_ timeline: ExpiryTimeline) -> [String] {
        timeline.blocks.map { $0.render(.plain) }.joined().split(separator: "\n").map(String.init)
    }

    private static let keys = [
        key("merchant.b", .current, until: "2026-12-31T00:00:00Z"),
        key("merchant.b", .standby, until: "2028-11-01T00:00:00Z"),
        key("merchant.a", .retiring, until: "2026-11-30T00:00:00Z"),
        key("merchant.a", .current, until: "2026-11-29T00:00:00Z"),
        // Not active, and after the last month.
        key("merchant.c", .revoked, until: "2027-01-01T00:00:00Z"),
        key("merchant.d", .current, until: "2028-12-01T00:00:00Z"),
    ]

    @Test func `each merchant is a line with a mark in the month of each end, the earliest end first`() throws {
        let lines = Self.lines(Self.timeline(Self.keys))
        #expect(lines.count == 5, "\(lines)")
        let start = try #require(lines[1].firstIndex(of: "N")).utf16Offset(in: lines[1])
        #expect(lines[0].contains("2027") && lines[0].contains("2028"))
        func marks(_ line: String) -> [Character] {
            Array(line.dropFirst(start)).enumerated().filter { $0.offset.isMultiple(of: 2) }.map { $0.element }
        }
        #expect(marks(lines[1]) == Array("NDJFMAMJJASONDJFMAMJJASON"))
        #expect(lines[2].hasPrefix("merchant.a ") && marks(lines[2])[0] == "2")
        #expect(lines[3].hasPrefix("merchant.b ") && marks(lines[3])[1] == "C" && marks(lines[3])[24] == "S")
    }

    @Test(arguments: [1, 2, 13, 25, 26, 49])
    func `the picture fits 80 columns`(months: Int) {
        let long = "merchant." + String(repeating: "x", count: 240) + ".end"
        let lines = Self.lines(
            Self.timeline(Self.keys + [Self.key(long, .current, until: "2026-11-22T00:00:00Z")], months: months))
        #expect(lines.allSatisfy { $0.count <= 80 && !$0.hasSuffix(" ") }, "\(lines)")
        #expect(lines.contains { $0.contains("x.end ") }, "\(lines)")
    }

    @Test func `an expired certificate is shown in the current month`() {
        let timeline = Self.timeline([Self.key("merchant.a", .current, until: "2025-01-01T00:00:00Z")])
        #expect(timeline.endings.map(\.month) == [timeline.months.lowerBound])
    }

    @Test func `for more than 40 merchants, the output is a table of counts by month`() {
        let keys = (1...41).map { Self.key("merchant.m\($0)", .current, until: "2027-03-\(10 + $0 % 20)T00:00:00Z") }
        let lines = Self.lines(Self.timeline(keys))
        #expect(lines.count == 26 && lines[0].hasPrefix("MONTH"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("2027-03  41") && $0.contains("####") })
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [keys, [], (1...60).map { key("merchant.m\($0)", .standby, until: "2027-03-01T00:00:00Z") }])
    func `the SVG is XML that needs no other file, with a mark for each end`(keys: [KeyDocument]) throws {
        let svg = Self.timeline(keys).svg
        #expect(!svg.contains("href") && !svg.contains("url(") && svg.contains("prefers-color-scheme: dark"))
        #expect(!svg.contains("nan") && !svg.contains("inf"))
        if keys.count == Self.keys.count {
            #expect(svg.components(separatedBy: "<title>merchant.").count == 5)
            #expect(svg.contains("merchant.b, standby key"))
        }
        guard ChildProcess.succeeds("python3", "--version") else { return }
        let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)"
        let outcome = try ChildProcess.run(["python3", "-c", parse], input: svg.utf8)
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    @Test(arguments: [("2y", 25), ("1y", 13), ("30d", 2), ("31d", 3), ("1h", 2), ("4y", 49)])
    func `the length is given in years or as a duration`(text: String, months: Int) throws {
        #expect(try TimelineLength.parse(text).monthCount == months)
    }

    @Test(arguments: ["", "y", "0y", "5y", "0d", "-1y", "2 y", "99999d", "2m3"])
    func `an invalid length is refused`(text: String) {
        #expect(throws: (any Error).self) { try TimelineLength.parse(text) }
    }

    @Test func `the command requests keys that expire soon, and overwrites an SVG only with --force`() async throws {
        let keys = Self.keys
        try await FakeDaemon.with({ _ in try .json(Page(items: keys, nextCursor: nil)) }) { program, daemon in
            let file = program.path("expiry.svg")
            let timeline = ["certificate", "timeline", "--within", "4y", "--svg", file, "--socket", daemon.socketPath]
            let first = try await program.run(timeline)
            #expect(first.status == 0 && first.error.contains("wrote \(file)"), "\(first)")
            #expect(daemon.requests.first?.target.hasPrefix("/v1/keys?endingBefore=20") == true)
            #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("<svg "))
            #expect(try await program.run(timeline).status == 1)
            #expect(try await program.run(timeline + ["--force"]).status == 0)
            let json = try await program.run(timeline.prefix(4) + ["--output", "json", "--socket", daemon.socketPath])
            let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect((document?["items"] as? [[String: String]])?.first?["state"] == "current", "\(json)")
        }
    }
}
