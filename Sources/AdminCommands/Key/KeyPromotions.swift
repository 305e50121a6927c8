import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

/// `key promote` with several keys.
struct KeyPromotions {
    struct Item: BulkItem {
        let hash: PublicKeyHash
        /// A random identifier of the run. Because of it, a later run handles each key as a new item: another key may
        /// have been promoted since.
        let content: String

        var name: String { hash.base64 }
        var place: String? { nil }
    }

    static let subcommand = "key promote"

    let keys: [KeyArgument]

    /// Shows what the daemon would change, and changes nothing.
    func showPlan(_ admin: AdminClient, _ printer: Printer) async throws {
        var transitions: [KeyTransitionDocument.Transition] = []
        var documents: [JSONValue] = []
        for key in keys {
            let plan = try await admin.promote(try await key.resolve(admin), dryRun: true)
            transitions += plan.document.transitions
            documents.append(try Printer.parse(plan.json))
            printer.warn(plan.document.warnings)
        }
        switch printer.format {
        case .table: printer.show([transitions.table(isPlan: true)])
        case .json: printer.json(list: documents)
        }
    }

    func promote(_ admin: AdminClient, _ options: BulkOptions, isQuiet: Bool) async throws -> BulkSummary {
        let report = try options.openReport(of: Self.subcommand, defaultPath: "key-promote.report.jsonl")
        // Every key is resolved before the first one is promoted, so that an ambiguous prefix changes nothing.
        var hashes: [PublicKeyHash] = []
        for key in keys { hashes.append(try await key.resolve(admin)) }
        var remainingHashes = hashes[...]
        let runIdentifier = UUID().uuidString
        let bulk = BulkRun<Item>(report: report, concurrency: options.concurrency, isQuiet: isQuiet)
        return try await bulk.run(total: hashes.count) {
            remainingHashes.popFirst().map { Item(hash: $0, content: runIdentifier) }
        } act: { item, _ in
            let change = try await admin.promote(item.hash, dryRun: false).document
            var result = [
                "publicKeyHash": item.hash.base64, "merchantIdentifier": change.key.merchantIdentifier.rawValue,
            ]
            if !change.warnings.isEmpty { result["warnings"] = change.warnings.joined(separator: "; ") }
            return change.transitions.isEmpty ? .unchanged(result) : .done(result)
        }
    }
}
