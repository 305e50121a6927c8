import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// `roll start --ending-within`: starts a roll for every current payment processing key pair whose certificate has
/// expired, or expires within the given time.
struct ExpiringKeyRolls {
    struct Item: BulkItem {
        let merchant: MerchantIdentifier
        let algorithm: KeyAlgorithm
        /// A random identifier of the run. Because of it, a later run handles each key as a new item: the merchant may
        /// need another roll by then.
        let content: String

        var name: String { "\(merchant) \(algorithm)" }
        var place: String? { nil }
    }

    static let subcommand = "roll start --ending-within"

    /// Certificates that expire at this time or earlier are replaced.
    private let latestExpiry: Timestamp
    /// The algorithm of the keys that are replaced; nil for both algorithms.
    private let algorithm: KeyAlgorithm?
    private let runIdentifier = UUID().uuidString

    init(within length: DurationArgument, algorithm: KeyAlgorithm?) {
        latestExpiry = Timestamp(Date()).adding(.seconds(length.seconds))
        self.algorithm = algorithm
    }

    func start(_ admin: AdminClient, _ options: BulkOptions, isQuiet: Bool) async throws -> BulkSummary {
        let report = try options.openReport(of: Self.subcommand, defaultPath: "roll-start.report.jsonl")
        let runStart = try await admin.status().document.time
        // The rest of the current page, last item first, so that `popLast` returns the items in order.
        var itemsOfPage: [Item] = []
        var cursor: String?
        var isLast = false
        let bulk = BulkRun<Item>(report: report, concurrency: options.concurrency, isQuiet: isQuiet)
        return try await bulk.run(total: nil) {
            while itemsOfPage.isEmpty, !isLast {
                let page = try await admin.keys(in: .current, cursor: cursor).document
                itemsOfPage = page.items.filter(isExpiring).map(item).reversed()
                cursor = page.nextCursor
                isLast = cursor == nil
            }
            return itemsOfPage.popLast()
        } act: { item, _ in
            let roll = try await admin.startRoll(of: item.merchant, algorithm: item.algorithm).document
            let result = ["rollId": roll.rollId, "publicKeyHash": roll.to.base64, "state": roll.state]
            // If a roll was open before this run, the daemon has returned that roll.
            return roll.startedAt >= runStart ? .done(result) : .unchanged(result)
        }
    }

    private func isExpiring(_ key: KeyDocument) -> Bool {
        guard key.purpose == .paymentProcessing, algorithm == nil || key.algorithm == algorithm, let end = key.notAfter
        else { return false }
        return end <= latestExpiry
    }

    private func item(_ key: KeyDocument) -> Item {
        Item(merchant: key.merchantIdentifier, algorithm: key.algorithm, content: runIdentifier)
    }
}
