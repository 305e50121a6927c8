import Vocabulary
import WireAPI

extension AccessDocument {
    /// The largest number of merchants that the output lists for one access.
    private static let maximumShownMerchants = 10

    var blocks: [Block] {
        let record = Block.record([
            ("access", Cell(name)),
            ("token", token.map { Cell($0) }),
            ("permits", Cell(permits.joined(separator: ", "))),
            ("merchants", Cell(shownMerchants)),
            ("client certificate", certificateFingerprint.map { Cell("SHA-256 \($0)") }),
            ("created (UTC)", Cell(time: createdAt)),
            ("expires (UTC)", Self.timeOrNever(expiresAt)),
            ("revoked (UTC)", revokedAt.map { Cell(time: $0) }),
            ("last used (UTC)", Self.timeOrNever(lastUsedAt)),
        ])
        return tokens.isEmpty ? [record] : [record, tokenTable]
    }

    static func table(_ accesses: [AccessDocument]) -> Block {
        .table(
            headings: [
                "NAME", "PERMITS", "MERCHANTS", "CREATED (UTC)", "EXPIRES (UTC)", "REVOKED (UTC)", "LAST USED (UTC)",
            ],
            rows: accesses.map { access in
                [
                    Cell(access.name), Cell(access.permits.joined(separator: ", ")),
                    Cell(access.merchants.map { "\($0.count)" } ?? "all"), Cell(time: access.createdAt),
                    Self.timeOrNever(access.expiresAt), Cell(time: access.revokedAt),
                    Self.timeOrNever(access.lastUsedAt),
                ]
            }, details: ["CREATED (UTC)", "REVOKED (UTC)"])
    }

    /// Says on standard error that the token is shown only once. Writes nothing if there is no new token, or with
    /// `--output json` or `--quiet`.
    func noteToken(_ printer: Printer) {
        guard token != nil, printer.format == .table else { return }
        printer.note("this token is shown only once; store it now, where only the machine that uses it can read it")
    }

    private var tokenTable: Block {
        .table(
            headings: ["TOKEN", "CREATED (UTC)", "EXPIRES (UTC)"],
            rows: tokens.map { token in
                [
                    Cell("mka_\(token.identifier)…"), Cell(time: token.createdAt),
                    token.expiresAt.map { Cell(time: $0) } ?? Cell("with the access"),
                ]
            })
    }

    private var shownMerchants: String {
        guard let merchants else { return "all" }
        let shown = merchants.prefix(Self.maximumShownMerchants).map(\.rawValue).joined(separator: ", ")
        let others = merchants.count - Self.maximumShownMerchants
        return others > 0 ? "\(shown) and \(others) more (use --output json)" : shown
    }

    /// A time, or `never`.
    private static func timeOrNever(_ time: Timestamp?) -> Cell { time.map { Cell(time: $0) } ?? Cell("never") }
}
