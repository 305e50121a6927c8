import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct StatusShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of the daemon and its keys, and the problems it found, most urgent first.",
        examples: [
            "status",
            "status --check --timeout 5s",
            "status --watch",
        ])

    @Flag(help: "Print one line and exit as monitoring systems expect: 0 OK, 1 warning, 2 critical, 3 unknown.")
    var check = false

    @Flag(
        help: "Show the status again and again, until the program is stopped; with --output json, one line each time.")
    var watch = false

    @Option(
        help: ArgumentHelp("With --watch, wait this long between two requests. Default: 2s.", valueName: "duration"),
        transform: DurationArgument.parse)
    var interval: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "Wait at most this long for each response of the daemon, 1s to 1h. Default: 60s; with --check, 10s.",
            valueName: "duration"), transform: DurationArgument.parse)
    var timeout: DurationArgument?

    @OptionGroup var global: GlobalOptions

    /// The default with `--check` is 10 s: a monitoring system stops a check that takes too long, and the Monitoring
    /// Plugins Development Guidelines name 10 s as the usual limit.
    private var secondsPerResponse: Int { timeout?.seconds ?? (check ? 10 : 60) }

    func validate() throws {
        guard !(watch && check) else {
            throw ValidationError("--watch can't be combined with --check; omit one of them")
        }
        guard interval == nil || watch else { throw ValidationError("--interval needs --watch") }
        guard interval?.seconds != 0 else { throw ValidationError("--interval is 0s, expected 1s or more") }
        guard (1...3600).contains(secondsPerResponse) else {
            throw ValidationError("--timeout is \(secondsPerResponse)s, expected 1s to 1h")
        }
    }

    func run() async throws {
        if watch {
            return try await global.withAdminClient { admin in
                try await StatusWatch(admin, global.printer, within: secondsPerResponse)
                    .run(every: .seconds(interval?.seconds ?? 2))
            }
        }
        guard check else {
            return try await global.withAdminClient { admin in
                let response = try await admin.status(within: secondsPerResponse)
                try global.printer.show(response.json) { response.document.blocks }
            }
        }
        let exit = await monitoringExit()
        guard exit.status == 0 else { throw exit }
    }

    /// Prints the line for the monitoring system, or with `--output json` the status document.
    ///
    /// - Returns: the exit status for the monitoring system.
    private func monitoringExit() async -> MonitoringExit {
        do {
            return try await global.withAdminClient { admin in
                let response = try await admin.status(within: secondsPerResponse)
                let result = StatusCheck(response.document)
                try global.printer.show(response.json) { [.text(result.line)] }
                return MonitoringExit(status: result.status)
            }
        } catch {
            let why = (error as? CommandFailure)?.message ?? "\(error)"
            let status = Self.status(of: error)
            switch global.output {
            case .table:
                let line = "merchantkeyd \(status == 2 ? "CRITICAL" : "UNKNOWN"): \(why)"
                global.printer.show([.text(line.printable(keepingLines: false))])
            case .json:
                let failure =
                    (error as? CommandFailure) ?? (error as? ClientError).map { CommandFailure($0) }
                    ?? CommandFailure(.failed, why)
                StandardStream.error.write(ErrorDocument(failure, exitStatus: status).json + "\n")
            }
            return MonitoringExit(status: status)
        }
    }

    /// The exit status for an error. It is 2 (critical) if the daemon can't use its database or a key, or has an
    /// internal error; otherwise 3 (unknown).
    private static func status(of error: any Error) -> Int32 {
        guard case .refused(let refusal) = error as? ClientError else { return 3 }
        return ["storeUnavailable", "keyDamaged", "internalError"].contains(refusal.code) ? 2 : 3
    }
}

extension StatusDocument {
    var blocks: [Block] {
        let record = Block.record([
            ("version", Cell(version)),
            ("environment", Cell(environment)),
            ("time (UTC)", Cell(time: time)),
            ("started (UTC)", Cell(time: startedAt)),
            ("merchants", Cell("\(merchants)")),
            ("merchants below target", Cell("\(merchantsBelowTarget)", merchantsBelowTarget > 0 ? .warning : .plain)),
            ("key pairs", Cell(keyPairsInOrder)),
            ("certificates", Cell("\(certificates)")),
            ("registrations", Cell("\(registrations)")),
            (
                "registrations that differ from Apple's",
                registrationsDrifting > 0 ? Cell("\(registrationsDrifting)", .warning) : nil
            ),
            (
                "calls to Apple without a result",
                registrationCallsOpen > 0 ? Cell("\(registrationCallsOpen)", .warning) : nil
            ),
            ("audit records", Cell("\(auditRecords)")),
            (
                "last verified backup (UTC)",
                backups.map { backups in
                    backups.lastVerified.map { Cell(time: $0) }
                        ?? Cell(
                            backups.verifiedInFuture == nil ? "never" : "unknown: its time is in the future",
                            merchants > 0 ? .warning : .plain)
                }
            ),
            ("merchants without backup", backups.map { Cell(Self.merchantsWithoutBackup($0)) }),
            ("audit head", auditHead.map { Cell($0.description) }),
            ("open rolls", Cell(openRollsInOrder)),
            ("keys awaiting destruction", awaitingDestruction > 0 ? Cell("\(awaitingDestruction)") : nil),
        ])
        return [record] + expiryTable + waitingRolls + waitingDestructions + (webhooks.isEmpty ? [] : [webhookTable])
            + (findings.isEmpty ? [] : [findingTable])
    }

    /// How many merchants have no verified backup of their newest key, and the first five of these merchants.
    private static func merchantsWithoutBackup(_ backups: BackupCoverageDocument) -> String {
        let named = backups.withoutBackup.prefix(5)
        guard !named.isEmpty else { return "\(backups.merchantsWithoutBackup)" }
        let more = backups.merchantsWithoutBackup > named.count ? ", … (see 'merchant list')" : ""
        return "\(backups.merchantsWithoutBackup): \(named.map(\.rawValue).joined(separator: ", "))\(more)"
    }

    /// A table with a row for each week in which a certificate expires; empty if there is no such week.
    private var expiryTable: [Block] {
        let weeks = endingByWeek.filter { $0.ending > 0 }
        guard let largestCount = weeks.map(\.ending).max() else { return [] }
        return [
            .table(
                headings: ["WEEK FROM (UTC)", "CERTIFICATES EXPIRE", ""],
                rows: weeks.map { week in
                    [
                        Cell(String(week.begins.rfc3339.prefix(10))), Cell("\(week.ending)"),
                        Cell(String(repeating: "#", count: max(1, week.ending * 40 / largestCount))),
                    ]
                })
        ]
    }

    private var waitingRolls: [Block] {
        longestWaitingRolls.isEmpty ? [] : [RollDocument.table(longestWaitingRolls)]
    }

    private var waitingDestructions: [Block] {
        guard !destructions.isEmpty else { return [] }
        return [
            .table(
                headings: ["DESTROY AFTER (UTC)", "PUBLIC KEY HASH", "MERCHANT"],
                rows: destructions.map {
                    [Cell(time: $0.destroyAfter), Cell($0.publicKeyHash), Cell($0.merchantIdentifier)]
                })
        ]
    }

    /// A table with a row for each finding, followed by rows for the most urgent merchants and keys of the finding.
    private var findingTable: Block {
        .table(
            headings: ["SEVERITY", "CODE", "COUNT", "MERCHANT", "PUBLIC KEY HASH", "FINDING"],
            rows: findings.flatMap { finding in
                let items = (finding.mostUrgent ?? []).map { item in
                    [
                        Cell(severity: item.severity), Cell(""), Cell(""), Cell(item.merchantIdentifier),
                        Cell(item.publicKeyHash), Cell(item.detail),
                    ]
                }
                return [
                    [
                        Cell(severity: finding.severity), Cell(finding.code), Cell("\(finding.count)"), Cell(""),
                        Cell(""), Cell(finding.detail),
                    ]
                ] + items
            }, details: ["PUBLIC KEY HASH", "COUNT"])
    }

    private var webhookTable: Block {
        .table(
            headings: ["WEBHOOK", "UNDELIVERED", "OLDEST (UTC)", "PARKED", "LAST DELIVERED (UTC)", "LAST FAILURE"],
            rows: webhooks.map {
                [
                    Cell($0.name), Cell("\($0.undelivered)"), Cell(time: $0.oldestUndelivered),
                    Cell("\($0.parked)", $0.parked > 0 ? .warning : .plain), Cell(time: $0.lastDelivered),
                    Cell($0.lastFailure),
                ]
            }, details: ["OLDEST (UTC)"])
    }

    /// The numbers of open rolls, in the order in which a roll passes the states.
    private var openRollsInOrder: String {
        ["started", "certificateStored", "promoted", "quiet"].compactMap { state in
            rolls[state].map { "\($0) \(state)" }
        }.joined(separator: ", ")
    }

    /// The numbers of key pairs, in the order in which a key pair passes the states. States that this program does not
    /// know come last.
    private var keyPairsInOrder: String {
        let known = KeyState.allCases.map(\.rawValue)
        let unknown = keyPairs.keys.filter { !known.contains($0) }.sorted()
        return (known + unknown).compactMap { state in keyPairs[state].map { "\($0) \(state)" } }
            .joined(separator: ", ")
    }
}
