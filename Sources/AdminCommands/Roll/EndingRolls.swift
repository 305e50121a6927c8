import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// `roll start --ending-within`: a roll for every current key pair whose certificate ends soon.
struct EndingRolls {
    struct Item: BulkItem {
        let merchant: MerchantIdentifier
        let algorithm: String
        /// Another one in each run: a later run asks for other rolls, because other certificates end soon by then.
        let content: String

        var name: String { "\(merchant) \(algorithm)" }
        var place: String? { nil }
    }

    static let subcommand = "roll start --ending-within"

    private let bound: Timestamp
    /// nil: both.
    private let algorithm: String?
    private let run = UUID().uuidString

    init(within length: DurationArgument, algorithm: String?) {
        bound = Timestamp(Date()).adding(.seconds(length.seconds))
        self.algorithm = algorithm
    }

    func start(_ admin: AdminClient, _ options: BulkOptions) async throws -> BulkSummary {
        let report = try options.open(Self.subcommand, standard: "roll-start.report.jsonl")
        let begin = Timestamp(rfc3339: try await admin.status().document.time)
        var waiting: [Item] = []
        var cursor: String?
        var isLast = false
        return try await BulkRun(report: report, concurrency: options.concurrency).run(total: nil) {
            while waiting.isEmpty, !isLast {
                let page = try await admin.keys(in: .current, cursor: cursor).document
                waiting = try page.items.filter(isEnding).map(item).reversed()
                cursor = page.nextCursor
                isLast = cursor == nil
            }
            return waiting.popLast()
        } act: { item, _ in
            let roll = try await admin.startRoll(of: item.merchant, algorithm: item.algorithm).document
            let result = ["rollId": roll.rollId, "publicKeyHash": roll.to, "state": roll.state]
            let isNew = begin.map { begin in Timestamp(rfc3339: roll.startedAt).map { $0 >= begin } ?? true } ?? true
            return isNew ? .done(result) : .unchanged(result)
        }
    }

    private func isEnding(_ key: KeyDocument) -> Bool {
        guard key.purpose == KeyPurpose.paymentProcessing.rawValue, algorithm == nil || key.algorithm == algorithm,
            let end = key.notAfter.flatMap({ Timestamp(rfc3339: $0) })
        else { return false }
        return end <= bound
    }

    private func item(_ key: KeyDocument) throws(ClientError) -> Item {
        guard let merchant = MerchantIdentifier(key.merchantIdentifier) else {
            throw .protocolViolation("found a merchant identifier that is none")
        }
        return Item(merchant: merchant, algorithm: key.algorithm, content: run)
    }
}
