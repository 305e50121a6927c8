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
        var content: String { path }
        var place: String? { nil }
    }

    static let subcommand = "key csr --all-pending"

    let directory: Directory
    let isDER: Bool
    let overwrites: Bool

    func run(_ admin: AdminClient, _ options: BulkOptions) async throws -> BulkSummary {
        let report = try options.open(Self.subcommand, default: directory.file("key-csr.report.jsonl"))
        let total = try await admin.status().document.keyPairs[KeyState.pending.rawValue]
        var waiting: [Item] = []
        var cursor: String?
        var isLast = false
        return try await BulkRun(report: report, concurrency: options.concurrency).run(total: total) {
            while waiting.isEmpty, !isLast {
                let page = try await admin.keys(in: .pending, cursor: cursor).document
                waiting = page.items.map(item).reversed()
                cursor = page.nextCursor
                isLast = cursor == nil
            }
            return waiting.popLast()
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
            hash: key.publicKeyHash, merchant: key.merchantIdentifier, path: directory.file(CSRFile.name(of: key)))
    }
}
