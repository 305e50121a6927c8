import WireAPI

extension MerchantDocument {
    var blocks: [Block] {
        [
            .record([
                ("merchant", Cell(merchantIdentifier)),
                ("name", name.map { Cell($0) }),
                ("active key pairs", Cell("\(activeKeyPairs) of \(targetActiveKeyPairs)", tone)),
                ("identifier hash", Cell(merchantIdentifierHash)),
                ("added (UTC)", Cell(time: createdAt)),
                ("newest key backed up", newestKeyBackedUp.map { $0 ? "yes" : Cell("no", .warning) }),
            ])
        ]
    }

    static func table(_ merchants: [MerchantDocument]) -> Block {
        .table(
            headings: ["MERCHANT", "NAME", "ACTIVE", "TARGET", "ADDED (UTC)", "BACKED UP"],
            rows: merchants.map {
                [
                    Cell($0.merchantIdentifier), Cell($0.name), Cell("\($0.activeKeyPairs)", $0.tone),
                    Cell("\($0.targetActiveKeyPairs)"), Cell(time: $0.createdAt),
                    $0.newestKeyBackedUp.map { $0 ? "yes" : Cell("no", .warning) } ?? Cell("-"),
                ]
            })
    }

    private var tone: Tone { activeKeyPairs < targetActiveKeyPairs ? .warning : .plain }
}

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
            ("made (UTC)", Cell(time: createdAt)),
            ("valid from (UTC)", notBefore.map { Cell(time: $0) }),
            ("valid to (UTC)", notAfter.map { Cell(time: $0) }),
            ("revoked because", revocationReason.map { Cell($0) }),
            ("destroy after (UTC)", destroyAfter.map { Cell(time: $0) }),
            ("exported (UTC)", exportedAt.map { Cell(time: $0) }),
            ("asked for", use?.requests.map(Self.cell)),
            ("proven in use", use?.decryptions.map(Self.cell)),
        ])
        return certificates.isEmpty ? [record] : [record, certificateTable]
    }

    private static func cell(_ use: KeyUseDocument.Observed) -> Cell {
        Cell("\(use.count) times, \(Cell(time: use.first).text) to \(Cell(time: use.last).text) UTC")
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
                "PUBLIC KEY HASH", "STATE", "ALGORITHM", "PURPOSE", "VALID TO (UTC)", "ASKED FOR (UTC)", "PROVEN (UTC)",
                "MERCHANT",
            ],
            rows: keys.map {
                [
                    Cell($0.publicKeyHash), Cell(state: $0.state), Cell($0.algorithm), Cell($0.purpose),
                    Cell(time: $0.notAfter), Cell(time: $0.use?.requests?.last), Cell(time: $0.use?.decryptions?.last),
                    Cell($0.merchantIdentifier),
                ]
            })
    }
}

extension KeyTransitionDocument {
    var blocks: [Block] {
        guard !transitions.isEmpty else {
            return [
                .record([
                    ("publicKeyHash", Cell(key.publicKeyHash)), ("state", Cell(state: key.state)),
                    ("destroy after (UTC)", key.destroyAfter.map { Cell(time: $0) }),
                ])
            ]
        }
        return [
            .table(
                headings: ["PUBLIC KEY HASH", "FROM", dryRun ? "WOULD BE" : "TO"],
                rows: transitions.map { [Cell($0.publicKeyHash), Cell(state: $0.from), Cell(state: $0.to)] })
        ]
    }
}

extension VerificationDocument {
    var block: Block {
        .table(
            headings: ["CHECK", "OUTCOME", "FINDING"],
            rows: checks.map { [Cell($0.check), Cell(outcome: $0.outcome), Cell($0.finding)] })
    }
}
