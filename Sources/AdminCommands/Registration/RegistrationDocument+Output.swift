import Vocabulary
import WireAPI

extension RegistrationDocument {
    var blocks: [Block] {
        var blocks: [Block] = [
            .record([
                ("partner", Cell(partnerInternalMerchantIdentifier)),
                // `unsettled`: it is unknown whether Apple executed the last request.
                ("state", Cell(state, state == "unsettled" ? .warning : .plain)),
                ("name", Cell(partnerMerchantName)),
                ("encryptTo", Cell(encryptTo?.rawValue ?? encryptToHash)),
                ("url", merchantUrl.map { Cell($0) }),
                ("merchant", merchantIdentifier.map { Cell($0) }),
                ("source", Cell(source == "apple" ? "Apple" : "the daemon's record")),
                ("Apple responded (UTC)", Cell(timeOfAppleResponse)),
                ("changed (UTC)", Cell(time: changedAt)),
                ("domains", Cell(domainNames.count)),
            ])
        ]
        if !domainNames.isEmpty { blocks.append(.table(headings: ["DOMAIN"], rows: domainNames.map { [Cell($0)] })) }
        if !drift.isEmpty { blocks.append(DriftDocument.table(drift)) }
        return blocks
    }

    static func table(_ registrations: [RegistrationDocument]) -> Block {
        .table(
            headings: ["PARTNER", "NAME", "STATE", "DOMAINS", "ENCRYPT TO", "DIFFERENCES", "APPLE RESPONDED (UTC)"],
            rows: registrations.map {
                [
                    Cell($0.partnerInternalMerchantIdentifier), Cell($0.partnerMerchantName), Cell($0.state),
                    Cell($0.domainNames.count), Cell($0.encryptTo?.rawValue ?? $0.encryptToHash),
                    Cell($0.drift.isEmpty ? "-" : "\($0.drift.count)", $0.drift.isEmpty ? .plain : .warning),
                    Cell(time: $0.learnedAt),
                ]
            })
    }

    private var timeOfAppleResponse: String {
        guard let learnedAt, let ageSeconds else { return "never" }
        return "\(Cell(time: learnedAt).text), \(Self.age(ageSeconds)) ago"
    }

    private static func age(_ seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }
}

extension DriftDocument {
    static func table(_ drift: [DriftDocument]) -> Block {
        .table(
            headings: ["DIFFERENCE", "APPLE HAS", "EXPECTED"],
            rows: drift.map(\.cells))
    }

    /// The difference, Apple's value and the expected value.
    fileprivate var cells: [Cell] {
        guard kind != "gone" else { return [Cell(kind, .warning), "no record", "a record"] }
        return [Cell(kind, .warning), Cell(found), Cell(expected)]
    }
}

extension UnregistrationDocument {
    var blocks: [Block] {
        [
            .table(
                headings: [dryRun ? "WOULD BE UNREGISTERED" : "UNREGISTERED"], rows: domainNames.map { [Cell($0)] })
        ] + registration.blocks
    }
}

extension SyncDocument.Finding {
    /// A table with a row for each difference and for each failure.
    static func table(_ findings: [SyncDocument.Finding]) -> Block {
        .table(
            headings: ["PARTNER", "DIFFERENCE", "APPLE HAS", "EXPECTED", "REPAIRED"],
            rows: findings.flatMap { finding -> [[Cell]] in
                let partner = Cell(finding.partnerInternalMerchantIdentifier)
                let repaired = finding.repaired.map { Cell($0 ? "yes" : "no", $0 ? .good : .critical) } ?? Cell("-")
                let rows = finding.drift.map { [partner] + $0.cells + [repaired] }
                let failure = finding.failure.map {
                    [partner, Cell("failed", .critical), Cell($0.detail), "-", repaired]
                }
                return rows + (failure.map { [$0] } ?? [])
            })
    }
}

extension DomainFileDocument {
    var blocks: [Block] {
        [
            .record([
                ("sha256", Cell(sha256)), ("bytes", Cell(size)), ("stored (UTC)", Cell(time: storedAt)),
            ])
        ]
    }
}

extension DomainCheckDocument {
    var blocks: [Block] {
        var blocks: [Block] = [
            .record([
                ("domain", Cell(domainName)), ("address", Cell(address)),
                ("result", Cell(passed ? "ready" : "Apple would refuse the domain", passed ? .good : .critical)),
            ])
        ]
        if !findings.isEmpty {
            blocks.append(
                .table(
                    headings: ["FINDING", "DETAIL"],
                    rows: findings.map { [Cell($0.kind, .critical), Cell($0.detail)] }))
        }
        return blocks
    }
}
