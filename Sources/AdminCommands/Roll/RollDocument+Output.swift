import Vocabulary
import WireAPI

extension RollDocument {
    var blocks: [Block] {
        let record = Block.record([
            ("roll", Cell(rollId)),
            ("merchant", Cell(merchantIdentifier)),
            ("algorithm", Cell(algorithm)),
            ("state", Cell(rollState: state)),
            ("since (UTC)", Cell(time: since)),
            ("old key", from.map { Cell($0) }),
            ("new key", Cell(to)),
            ("waiting for", Cell(waitingFor)),
            ("next", next.map { Cell($0) }),
            ("can finish from (UTC)", quietAt.map { Cell(time: $0) }),
            ("started (UTC)", Cell(time: startedAt)),
            ("ended (UTC)", endedAt.map { Cell(time: $0) }),
            ("end reason", reason.map { Cell($0) }),
        ])
        var blocks = [record]
        if let transitions, !transitions.isEmpty { blocks.append(transitions.table(isPlan: dryRun == true)) }
        if dryRun == true, let nextKeyGenerationText { blocks.append(.text("would \(nextKeyGenerationText)")) }
        for key in generatedKeyPairs ?? [] {
            blocks.append(
                .text(
                    "generated key \(key) for the next roll; get its CSR for Apple with: merchantkeyctl key csr \(key)")
            )
        }
        return blocks
    }

    /// Says how many key pairs `roll finish` generates, as in `generate 1 key pair with its CSR for the next roll`; nil
    /// if it generates none.
    var nextKeyGenerationText: String? {
        guard let nextKeyPairs, nextKeyPairs > 0 else { return nil }
        return
            "generate \(nextKeyPairs.counted("key pair with its CSR", "key pairs with their CSRs")) for the next roll"
    }

    static func table(_ rolls: [RollDocument]) -> Block {
        .table(
            headings: ["ROLL", "MERCHANT", "ALGORITHM", "STATE", "SINCE (UTC)", "WAITING FOR", "NEXT"],
            rows: rolls.map {
                [
                    Cell($0.rollId), Cell($0.merchantIdentifier), Cell($0.algorithm), Cell(rollState: $0.state),
                    Cell(time: $0.since), Cell($0.waitingFor),
                    // A roll that has ended has no next step, so the column shows why the roll ended.
                    Cell($0.next ?? $0.reason),
                ]
            }, details: ["ROLL", "SINCE (UTC)", "ALGORITHM"])
    }
}

extension Cell {
    fileprivate init(rollState: String) {
        let tone: Tone =
            switch rollState {
            case "finished", "quiet": .good
            case "certificateStored", "promoted": .notice
            default: .plain
            }
        self.init(rollState, tone)
    }
}
