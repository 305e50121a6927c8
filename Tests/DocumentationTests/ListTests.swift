import DaemonKit
import Foundation
import MerchantCore
import MerchantOperations
import ServerKit
import Testing
import WireAPI
import Yams

/// The tables in docs/, compared with the lists in the code.
@Suite struct ListTests {
    /// Compares names, and reports each that one side lacks or that is documented twice.
    private static func expect(_ documented: [String], are actual: [String], _ path: String) {
        #expect(Set(actual).subtracting(documented) == [], "not in \(path)")
        #expect(Set(documented).subtracting(actual) == [], "only in \(path)")
        let repeated = Dictionary(grouping: documented, by: \.self).filter { $1.count > 1 }.keys.sorted()
        #expect(repeated == [], "twice in \(path)")
    }

    @Test func `errors.md lists every code with its status, and says what to do`() throws {
        let path = "docs/errors.md"
        let rows = try MarkdownDocument(path).rows(under: "code")
        // Rows with three columns are about HTTP itself. Their codes are not in `MerchantError.Code`.
        let domain = rows.filter { $0.count == 4 }
        let documented = domain.map { MarkdownDocument.quoted($0[0])[0] }
        Self.expect(documented, are: MerchantError.Code.allCases.map(\.rawValue), path)
        for row in domain {
            let code = try #require(MerchantError.Code(rawValue: MarkdownDocument.quoted(row[0])[0]))
            #expect(Int(row[1]) == ProblemTable.status(of: code).status, "\(code)")
            #expect(!row[2].isEmpty && !row[3].isEmpty, "\(code)")
        }
    }

    @Test func `errors.md lists each advice about repeating a request, with its codes (except for never)`()
        throws
    {
        let rows = try MarkdownDocument("docs/errors.md").rows(under: "advice")
        let documented = Dictionary(
            uniqueKeysWithValues: rows.map { (MarkdownDocument.quoted($0[0])[0], Set(MarkdownDocument.quoted($0[1]))) })
        #expect(Set(documented.keys) == Set(RetryAdvice.allCases.map(\.rawValue)))
        for advice in RetryAdvice.allCases where advice != .never {
            let codes = ProblemCode.all.filter { $0.retry == advice }.map(\.name)
            #expect(documented[advice.rawValue] == Set(codes), "\(advice)")
        }
    }

    @Test func `events.md lists every kind with its cause, severity and what to do`() throws {
        let path = "docs/events.md"
        let rows = try MarkdownDocument(path).rows(under: "kind")
        Self.expect(rows.flatMap { MarkdownDocument.quoted($0[0]) }, are: Event.Kind.allCases.map(\.rawValue), path)
        for row in rows {
            #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            #expect(Severity.allCases.contains { row[2].contains($0.rawValue) }, "\(row[0])")
        }
    }

    @Test func `audit.md lists every action`() throws {
        let path = "docs/audit.md"
        Self.expect(
            try MarkdownDocument(path).names(under: "action"), are: AuditAction.allCases.map(\.rawValue), path)
    }

    @Test func `operate.md lists every finding of status`() throws {
        let path = "docs/operate.md"
        let rows = try MarkdownDocument(path).rows(under: "code")
        Self.expect(
            rows.flatMap { MarkdownDocument.quoted($0[0]) }, are: StatusFinding.Code.allCases.map(\.rawValue), path)
        for row in rows { #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row)") }
    }

    @Test func `storage-failures.md lists every finding of a start, and which of them --accept-older-database lifts`()
        throws
    {
        let path = "docs/storage-failures.md"
        let rows = try MarkdownDocument(path).rows(under: "code")
        Self.expect(
            rows.map { MarkdownDocument.quoted($0[0])[0] }, are: StartFinding.Code.allCases.map(\.rawValue), path)
        for row in rows {
            let code = try #require(StartFinding.Code(rawValue: MarkdownDocument.quoted(row[0])[0]))
            let start =
                switch code.consequence {
                case .refusal: "refuses"
                case .refusalUnlessAccepted: "refuses unless accepted"
                case .recordedLoss: "starts, audits"
                case .warning: "starts, warns"
                }
            #expect(row.count == 4 && row[1] == start && !row[2].isEmpty && !row[3].isEmpty, "\(code)")
        }
    }

    @Test func `operate.md lists every permit`() throws {
        let path = "docs/operate.md"
        Self.expect(try MarkdownDocument(path).names(under: "permit"), are: Permit.allCases.map(\.rawValue), path)
    }

    @Test func `settings.md lists every setting of the example file, and whether a reload applies it`() throws {
        let path = "docs/settings.md"
        let document = try MarkdownDocument(path)
        Self.expect(document.names(under: "setting"), are: try Self.settings(), path)
        let reloadable = Dictionary(
            uniqueKeysWithValues: SettingsCatalog.standard.declarations.map { ($0.name, $0.isReloadable) })
        for row in document.rows(under: "setting") {
            #expect(row.count == 4 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            let name = try #require(MarkdownDocument.quoted(row[0]).first)
            #expect(row[2] == (reloadable[name] == true ? "yes" : "restart"), "\(name)")
        }
    }

    /// The dotted names of the settings in etc/merchantkeyd.yaml, which has every one as a comment.
    private static func settings() throws -> [String] {
        let file = MarkdownDocument.root.appending(path: "etc/merchantkeyd.yaml")
        let setting = /# *(?:- )?[a-z][a-z-]*:(?: .*)?/
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { $0.wholeMatch(of: setting) != nil }.map { $0.dropFirst(2) }
        func names(_ node: Node, _ name: String) -> Set<String> {
            switch node {
            case .mapping(let mapping):
                mapping.reduce(into: []) { found, entry in
                    let key = entry.key.string ?? "?"
                    found.formUnion(names(entry.value, name.isEmpty ? key : "\(name).\(key)"))
                }
            case .sequence(let items) where items.contains { $0.mapping != nil }:
                items.reduce(into: []) { $0.formUnion(names($1, name)) }
            default: [name]
            }
        }
        return names(try #require(try Yams.compose(yaml: lines.joined(separator: "\n"))), "").sorted()
    }

    @Test("limits.md has the numbers of the code", arguments: limits)
    func limit(_ row: String, _ number: Int) throws {
        let rows = try MarkdownDocument("docs/limits.md").rows(under: "what")
        let text = try #require(rows.first { $0[0] == row }?[1], "no row '\(row)'")
        let numbers = text.replacingOccurrences(of: ",", with: "").matches(of: /\d+/).compactMap { Int($0.0) }
        #expect(numbers.contains(number), "\(row): \(text)")
    }

    static let limits: [(String, Int)] = [
        ("merchant name, reason", RevocationRules.longestReason),
        ("merchant name, reason", Merchant.longestName),
        ("domains of a registration", Registration.maximumDomains),
        ("URL of a registered merchant", RegistrationRules.longestURL),
        ("domain verification file", DomainFile.largest),
        ("separate counts of one user's refused requests in the audit", RefusedRequests.maximumKindsPerUser),
        ("page of a list", Page<Int>.largestLimit),
        ("merchants or key pairs that a finding of `status` names", StatusFinding.maximumNamed),
    ]
}
