import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct BackupVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify a backup by restoring it into a temporary directory.",
        discussion: """
            Decrypts (unseals) every private key, compares it with its public key and certificates, verifies the audit chain, \
            and shows how long this took. FILE is not changed. With --offline, the command needs the master key but no daemon.
            """,
        examples: ["backup verify /var/backups/merchantkeyd/monday.backup"])

    @Argument(help: "The backup file, on the daemon's machine.", completion: .file())
    var file: String

    @Flag(help: "Verify on this machine, without the daemon.")
    var offline = false

    @Option(
        help: ArgumentHelp(
            "With --offline: read the master key from this file. Default: the source of the master key in the settings.",
            discussion: "Repeat the option for a backup that was created during a rotation of the master key.",
            valueName: "file"), completion: .file())
    var masterKeyFile: [String] = []

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard offline || (masterKeyFile.isEmpty && paths.isEmpty) else {
            throw ValidationError("--master-key-file, --config and --state-directory need --offline")
        }
    }

    func run() async throws {
        let path = try BackupCommands.absolutePath(of: file)
        guard !offline else {
            try DaemonProgram.execute(
                ["backup-verify", path] + masterKeyFile.flatMap { ["--master-key-file", $0] }
                    + paths.arguments(global) + global.outputArguments)
        }
        try await global.withAdminClient { admin in
            let verification = try await admin.verifyBackup(path)
            try global.printer.show(verification.json) { verification.document.blocks }
            try verification.document.throwUnlessGood()
        }
    }
}

extension BackupVerificationDocument {
    /// - Parameter path: the path at which the backup was created, if the request allowed the daemon to rename a backup
    ///   with findings; otherwise nil.
    /// - Throws: ``CommandFailure`` if the verification has findings.
    func throwUnlessGood(createdAs path: String? = nil) throws(CommandFailure) {
        guard !good else { return }
        let renamed = path.map { $0 == backup.file ? "" : ", and the daemon renamed the file \($0)" } ?? ""
        throw CommandFailure(
            .failed, "the verification of \(backup.file) failed\(renamed); the findings are listed above")
    }

    var blocks: [Block] {
        let record = Block.record([
            ("backup", good ? Cell("good", .good) : Cell("not good", .critical)),
            ("file", Cell(backup.file)),
            ("created (UTC)", Cell(time: backup.createdAt)),
            ("merchants", Cell(backup.merchants)),
            ("key pairs verified", Cell(keyPairsVerified)),
            ("certificates checked", Cell(certificatesChecked)),
            ("audit records checked", Cell(auditRecordsChecked)),
            ("audit head", backup.auditHead.map { Cell($0.description) }),
            ("duration (seconds)", Cell("\(seconds)")),
        ])
        guard !good else { return [record] }
        return [record, .table(headings: ["FINDING"], rows: findings.map { [Cell($0, .critical)] })]
    }
}

extension BackupDocument {
    var blocks: [Block] {
        [
            .record([
                ("file", Cell(file)), ("created (UTC)", Cell(time: createdAt)), ("merchants", Cell(merchants)),
                ("bytes", Cell(databaseBytes)), ("sha256", Cell(sha256)),
                ("audit head", auditHead.map { Cell($0.description) }),
            ])
        ]
    }
}
