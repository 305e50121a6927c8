import ArgumentParser
import WireAPI

/// The options of `merchant add` and `merchant set` for the properties of a merchant.
struct MerchantOptions: ParsableArguments {
    @Option(help: "The merchant's name, for display.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "How many active payment processing key pairs the merchant should have, 0 to 16.", valueName: "n"))
    var target: Int?

    var isEmpty: Bool { name == nil && target == nil }
}

extension AddMerchantRequest {
    mutating func set(_ options: MerchantOptions) {
        name = options.name
        targetActiveKeyPairs = options.target
    }
}

extension ChangeMerchantRequest {
    mutating func set(_ options: MerchantOptions) {
        name = options.name
        targetActiveKeyPairs = options.target
    }
}

extension MerchantDocument {
    var blocks: [Block] {
        [
            .record([
                ("merchant", Cell(merchantIdentifier)),
                ("name", name.map { Cell($0) }),
                ("active key pairs", Cell("\(activeKeyPairs) of \(targetActiveKeyPairs)", tone)),
                ("identifier hash", Cell(merchantIdentifierHash)),
                ("added (UTC)", Cell(time: createdAt)),
                ("newest key backed up", newestKeyBackedUp.map { Cell(isFulfilled: $0) }),
            ])
        ]
    }

    static func table(_ merchants: [MerchantDocument]) -> Block {
        .table(
            headings: ["MERCHANT", "NAME", "ACTIVE", "TARGET", "ADDED (UTC)", "BACKED UP"],
            rows: merchants.map {
                [
                    Cell($0.merchantIdentifier), Cell($0.name), Cell($0.activeKeyPairs, $0.tone),
                    Cell($0.targetActiveKeyPairs), Cell(time: $0.createdAt),
                    $0.newestKeyBackedUp.map { Cell(isFulfilled: $0) } ?? "-",
                ]
            }, details: ["ADDED (UTC)", "BACKED UP"])
    }

    private var tone: Tone { activeKeyPairs < targetActiveKeyPairs ? .warning : .plain }
}
