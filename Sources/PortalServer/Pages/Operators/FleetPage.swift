package import MerchantCore
package import MerchantOperations
import Vocabulary

/// The overview of the fleet, which is all merchants, for operators.
package struct FleetPage: HTMLPage {
    /// The numbers at the top of the page.
    package struct Counts: Hashable, Sendable {
        package let merchants: Int
        package let activeKeyPairs: Int
        package let merchantsBelowTarget: Int
        /// Certificates of active key pairs that have expired.
        package let expiredCertificates: Int

        package init(merchants: Int, activeKeyPairs: Int, merchantsBelowTarget: Int, expiredCertificates: Int) {
            self.merchants = merchants
            self.activeKeyPairs = activeKeyPairs
            self.merchantsBelowTarget = merchantsBelowTarget
            self.expiredCertificates = expiredCertificates
        }
    }

    private let counts: Counts
    private let findings: [StatusFinding]
    private let weeks: [PageWeek]
    private let rollsByState: [RollState: Int]
    private let rollsByParty: [RollParty: Int]
    private let belowTarget: [MerchantBelowTarget]

    package let area = PageArea.fleet
    package let template = PageTemplate.fleet

    /// - Parameters:
    ///   - findings: the most urgent first.
    ///   - weeks: consecutive weeks, the present one first. The page shows at most 13.
    ///   - rollsByState: the number of rolls in each state. The page shows the open ones.
    ///   - rollsByParty: the number of open rolls that wait for each party.
    ///   - belowTarget: the first merchants below their target.
    package init(
        counts: Counts, findings: [StatusFinding], weeks: [PageWeek], rollsByState: [RollState: Int],
        rollsByParty: [RollParty: Int], belowTarget: [MerchantBelowTarget]
    ) {
        self.counts = counts
        self.findings = findings
        self.weeks = weeks
        self.rollsByState = rollsByState
        self.rollsByParty = rollsByParty
        self.belowTarget = belowTarget
    }

    package func title(_ text: PageText) -> String { text[.fleetTitle] }

    package func content(_ text: PageText) -> Any {
        let states: [RollState] = [.started, .certificateStored, .promoted, .quiet]
        let parties: [RollParty] = [.merchant, .admin, .apple, .time]
        let openRolls = states.map { rollsByState[$0] ?? 0 }.reduce(0, +)
        let rows = belowTarget.map { FleetContent.BelowTarget($0, text) }
        return FleetContent(
            tiles: FleetContent.tiles(counts, openRolls: openRolls, text), hasFindings: !findings.isEmpty,
            findings: findings.map { FleetContent.Finding($0, text) },
            ended: counts.expiredCertificates > 0 ? text.counted(.fleetWeeksEnded, counts.expiredCertificates) : nil,
            weeks: WeekChartContent(weeks, text),
            weeksNone: text.filled(
                .fleetWeeksNone, ["count": text.number(WeekChartContent.maximumWeeks)]),
            rollsByState: BarListContent(
                states.map { (label: text.named(.rollState, $0.rawValue), count: rollsByState[$0] ?? 0) }, text),
            rollsByParty: BarListContent(
                parties.map { (label: text.named(.opsParty, $0.rawValue), count: rollsByParty[$0] ?? 0) }, text),
            hasBelow: !rows.isEmpty, below: rows,
            belowMore: counts.merchantsBelowTarget > rows.count && !rows.isEmpty
                ? text.filled(
                    .fleetBelowMore,
                    ["shown": text.number(rows.count), "count": text.number(counts.merchantsBelowTarget)])
                : nil)
    }
}

/// The values of the template `fleet`.
struct FleetContent {
    struct Tile {
        let label: String
        let value: String
        let isWarning: Bool
    }

    struct Finding {
        struct Item {
            let detail: String
            let merchant: MessageContent.Link?
        }

        let severityName: String
        let severity: String
        let code: String
        let count: String
        let detail: String
        let hasItems: Bool
        let items: [Item]

        init(_ finding: StatusFinding, _ text: PageText) {
            severityName = finding.severity.rawValue
            severity = text.named(.severity, finding.severity.rawValue)
            code = finding.code.rawValue
            count = text.counted(.fleetFindingsCount, finding.count)
            detail = finding.detail
            items = finding.mostUrgent.map { item in
                Item(
                    detail: item.detail,
                    merchant: item.merchantIdentifier.map {
                        MessageContent.Link(path: PortalPaths.fleetMerchant($0), label: $0.rawValue)
                    })
            }
            hasItems = !items.isEmpty
        }
    }

    struct BelowTarget {
        let path: String
        let merchant: String
        let active: String
        let target: String
        let ends: TimeContent?

        init(_ merchant: MerchantBelowTarget, _ text: PageText) {
            path = PortalPaths.fleetMerchant(merchant.merchantIdentifier)
            self.merchant = merchant.merchantIdentifier.rawValue
            active = text.number(merchant.activeKeyPairs)
            target = text.number(merchant.targetActiveKeyPairs)
            ends = merchant.currentCertificateExpiry.map { text.day($0) }
        }
    }

    let tiles: [Tile]
    let hasFindings: Bool
    let findings: [Finding]
    let ended: String?
    let weeks: WeekChartContent?
    let weeksNone: String
    let rollsByState: BarListContent
    let rollsByParty: BarListContent
    let hasBelow: Bool
    let below: [BelowTarget]
    let belowMore: String?

    static func tiles(_ counts: FleetPage.Counts, openRolls: Int, _ text: PageText) -> [Tile] {
        func tile(_ label: TextKey, _ value: Int, isWarning: Bool = false) -> Tile {
            Tile(label: text[label], value: text.number(value), isWarning: isWarning)
        }
        return [
            tile(.fleetMerchants, counts.merchants), tile(.fleetActiveKeys, counts.activeKeyPairs),
            tile(.fleetOpenRolls, openRolls),
            tile(.fleetBelowTarget, counts.merchantsBelowTarget, isWarning: counts.merchantsBelowTarget > 0),
        ]
    }
}
