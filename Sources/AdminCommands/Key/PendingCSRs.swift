import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// `key csr --all-pending`: writes the CSR of every key pair that has no certificate yet.
struct PendingCSRs {
    struct Item: BulkItem {
        let hash: PublicKeyHash
        let merchant: MerchantIdentifier
        let path: String

        var name: String { hash.base64 }
        /// The path, so that a run with another directory handles the key pair as a new item.
        var content: String { path }
        var place: String? { nil }
    }

    static let subcommand = "key csr --all-pending"

    let directory: Directory
    let isDER: Bool
    let overwrites: Bool

    func run(_ admin: AdminClient, _ options: BulkOptions, isQuiet: Bool) async throws -> BulkSummary {
        let report = try options.openReport(
            of: Self.subcommand, defaultPath: directory.path(ofFile: "key-csr.report.jsonl"))
        let total = try await admin.status().document.keyPairs[KeyState.pending.rawValue]
        // The rest of the current page, last item first, so that `popLast` returns the items in order.
        var itemsOfPage: [Item] = []
        var cursor: String?
        var isLast = false
        let bulk = BulkRun<Item>(report: report, concurrency: options.concurrency, isQuiet: isQuiet)
        return try await bulk.run(total: total) {
            while itemsOfPage.isEmpty, !isLast {
                let page = try await admin.keys(in: .pending, cursor: cursor).document
                itemsOfPage = page.items.map(item).reversed()
                cursor = page.nextCursor
                isLast = cursor == nil
            }
            return itemsOfPage.popLast()
        } act: { [isDER, overwrites] item, _ in
            let csr = try await admin.csr(of: item.hash, as: isDER ? .der : .pem)
            let result = [
                "file": item.path, "merchantIdentifier": item.merchant.rawValue, "publicKeyHash": item.hash.base64,
            ]
            let isNew = try CSRFile.write(csr, to: item.path, overwrites: overwrites)
            return isNew ? .done(result) : .unchanged(result)
        }
    }

    private func item(_ key: KeyDocument) -> Item {
        Item(
            hash: key.publicKeyHash, merchant: key.merchantIdentifier,
            path: directory.path(ofFile: CSRFile.name(of: key)))
    }
}
