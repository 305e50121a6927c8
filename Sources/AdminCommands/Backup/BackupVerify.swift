import ArgumentParser
import MerchantKeyClient
import WireAPI

struct BackupVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Restore a backup elsewhere and open everything in it.",
        discussion: """
            Unseals every private key, holds each against its public key and its certificates, proves the audit chain, and \
            says how long it took. FILE is not changed. With --offline no daemon is needed, but the master key.
            """)

    @Argument(help: "A backup on the daemon's machine.")
    var file: String

    @Flag(help: "Without the daemon, on this machine.")
    var offline = false

    @Option(
        help: ArgumentHelp(
            "With --offline: the master key; default: the settings'.",
            discussion: "Again for a second one, where the backup was made during a rotation.", valueName: "file"))
    var masterKeyFile: [String] = []

    @OptionGroup var place: PlaceOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard offline || (masterKeyFile.isEmpty && place.arguments.isEmpty) else {
            throw ValidationError("--master-key-file, --config and --state-directory go with --offline")
        }
    }

    func run() async throws {
        let path = try BackupNoun.absolute(file)
        guard !offline else {
            try DaemonProgram.become(
                ["backup-verify", path] + masterKeyFile.flatMap { ["--master-key-file", $0] } + place.arguments
                    + global.outputArguments)
        }
        try await global.withAdmin { admin in
            let verification = try await admin.verifyBackup(path)
            try global.printer.show(verification.json) { verification.document.blocks }
            try verification.document.requireGood()
        }
    }
}

extension BackupVerificationDocument {
    /// - Throws: ``CommandFailure`` for a backup that is not good.
    func requireGood() throws(CommandFailure) {
        guard good else { throw CommandFailure(.refused, "\(backup.file) is not good, see above") }
    }

    var blocks: [Block] {
        let record = Block.record([
            ("backup", good ? Cell("good", .good) : Cell("not good", .critical)),
            ("file", Cell(backup.file)),
            ("made (UTC)", Cell(time: backup.createdAt)),
            ("merchants", Cell("\(backup.merchants)")),
            ("key pairs proven", Cell("\(keyPairsVerified)")),
            ("certificates checked", Cell("\(certificatesChecked)")),
            ("audit records checked", Cell("\(auditRecordsChecked)")),
            ("audit head", backup.auditHead.map { Cell("\($0.sequence):\($0.hash)") }),
            ("seconds", Cell("\(seconds)")),
        ])
        guard !good else { return [record] }
        return [record, .table(headings: ["FINDING"], rows: findings.map { [Cell($0, .critical)] })]
    }
}

extension BackupDocument {
    var blocks: [Block] {
        [
            .record([
                ("file", Cell(file)), ("made (UTC)", Cell(time: createdAt)), ("merchants", Cell("\(merchants)")),
                ("bytes", Cell("\(databaseBytes)")), ("sha256", Cell(sha256)),
                ("audit head", auditHead.map { Cell("\($0.sequence):\($0.hash)") }),
            ])
        ]
    }
}
