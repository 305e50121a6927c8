import WireAPI

extension KeyDocument {
    var blocks: [Block] {
        let record = Block.record([
            ("publicKeyHash", Cell(publicKeyHash)),
            ("merchant", Cell(merchantIdentifier)),
            ("algorithm", Cell(algorithm)),
            ("purpose", Cell(purpose)),
            ("state", Cell(state: state)),
            ("since (UTC)", Cell(time: stateSince)),
            ("origin", Cell(origin)),
            ("created (UTC)", Cell(time: createdAt)),
            ("valid from (UTC)", notBefore.map { Cell(time: $0) }),
            ("valid to (UTC)", notAfter.map { Cell(time: $0) }),
            ("revocation reason", revocationReason.map { Cell($0) }),
            ("destroy after (UTC)", destroyAfter.map { Cell(time: $0) }),
            ("exported (UTC)", exportedAt.map { Cell(time: $0) }),
            ("requests", use?.requests.map(Self.cell)),
            ("decryptions", use?.decryptions.map(Self.cell)),
        ])
        return certificates.isEmpty ? [record] : [record, certificateTable]
    }

    private static func cell(_ use: KeyUseDocument.UseSummary) -> Cell {
        Cell("\(use.count), from \(Cell(time: use.first).text) to \(Cell(time: use.last).text) UTC")
    }

    private var certificateTable: Block {
        .table(
            headings: ["CERTIFICATE SERIAL", "VALID FROM (UTC)", "VALID TO (UTC)", "ISSUER VERIFIED", "ISSUER"],
            rows: certificates.map {
                [
                    Cell($0.serialNumber), Cell(time: $0.notBefore), Cell(time: $0.notAfter),
                    $0.issuerVerified ? "yes" : "no", Cell($0.issuer),
                ]
            })
    }

    static func table(_ keys: [KeyDocument]) -> Block {
        .table(
            headings: [
                "PUBLIC KEY HASH", "STATE", "ALGORITHM", "PURPOSE", "VALID TO (UTC)", "LAST REQUEST (UTC)",
                "LAST DECRYPTION (UTC)", "MERCHANT",
            ],
            rows: keys.map {
                [
                    Cell($0.publicKeyHash), Cell(state: $0.state), Cell($0.algorithm), Cell($0.purpose),
                    Cell(time: $0.notAfter), Cell(time: $0.use?.requests?.last), Cell(time: $0.use?.decryptions?.last),
                    Cell($0.merchantIdentifier),
                ]
            }, details: ["LAST DECRYPTION (UTC)", "LAST REQUEST (UTC)", "PURPOSE", "ALGORITHM"])
    }
}

extension KeyTransitionDocument {
    var blocks: [Block] {
        guard !transitions.isEmpty else {
            // The state is unchanged, for example after `key destroy` with a delay.
            return [
                .record([
                    ("publicKeyHash", Cell(key.publicKeyHash)), ("state", Cell(state: key.state)),
                    ("destroy after (UTC)", key.destroyAfter.map { Cell(time: $0) }),
                ])
            ]
        }
        return [transitions.table(isPlan: dryRun)]
    }
}

extension [KeyTransitionDocument.Transition] {
    func table(isPlan: Bool) -> Block {
        .table(
            headings: ["PUBLIC KEY HASH", "FROM", isPlan ? "WOULD BE" : "TO"],
            rows: map { [Cell($0.publicKeyHash), Cell(state: $0.from), Cell(state: $0.to)] })
    }
}
