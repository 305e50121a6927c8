import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// `key csr --all-pending`: the CSR of every key pair that waits for its certificate.
struct PendingCSRs {
    struct Item: BulkItem {
        let hash: PublicKeyHash
        let merchant: String
        let isIdentity: Bool
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
        let report = try options.open(Self.subcommand, standard: directory.file("key-csr.report.jsonl"))
        let total = try await admin.status().document.keyPairs[KeyState.pending.rawValue]
        var waiting: [Item] = []
        var cursor: String?
        var isLast = false
        return try await BulkRun(report: report, concurrency: options.concurrency).run(total: total) {
            while waiting.isEmpty, !isLast {
                let page = try await admin.keys(in: .pending, cursor: cursor).document
                waiting = try page.items.map(item).reversed()
                cursor = page.nextCursor
                isLast = cursor == nil
            }
            return waiting.popLast()
        } act: { [isDER, overwrites] item, _ in
            let csr = try await admin.csr(of: item.hash, as: isDER ? .der : .pem)
            let result = ["file": item.path, "merchantIdentifier": item.merchant, "publicKeyHash": item.hash.base64]
            let isNew = try CSRFile.write(csr, to: item.path, overwrites: overwrites)
            return isNew ? .done(result) : .unchanged(result)
        }
    }

    private func item(_ key: KeyDocument) throws(ClientError) -> Item {
        guard let hash = PublicKeyHash(anySpelling: key.publicKeyHash) else {
            throw .protocolViolation("found a publicKeyHash that is none")
        }
        let isIdentity = key.purpose == KeyPurpose.identity.rawValue
        let name = CSRFile.name(of: hash, merchant: key.merchantIdentifier, isIdentity: isIdentity)
        return Item(hash: hash, merchant: key.merchantIdentifier, isIdentity: isIdentity, path: directory.file(name))
    }
}
