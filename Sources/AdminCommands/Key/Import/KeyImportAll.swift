import ArgumentParser
import Glibc
import MerchantKeyClient
import Vocabulary
import WireAPI

struct KeyImportAll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-all", abstract: "Import all private keys of a directory or of a Java keystore.",
        discussion: """
            Imports each file whose name ends in .p12, .pfx, .pem or .key, and each private key of a Java keystore \
            (.jks, .jceks, .keystore, .ks). For a Java keystore, keytool must be installed. The certificate of a PEM \
            key is in the same file, or in a file with the same name and the suffix .cer, .crt, .der or .pem. From a \
            PKCS#12 file, the command imports each private key whose certificate is in the file; the report names the \
            others.

            By default, each key belongs to the merchant that its certificate names. The merchant must exist \
            ('merchant import'). All files must have the same passphrase. No file is changed. Run the command again \
            after you have corrected the cause of a failure: keys that the daemon already has are unchanged.
            """,
        examples: [
            "key import-all keys --passphrase-file passphrase.txt --dry-run",
            "key import-all keys --passphrase-file passphrase.txt",
            "key import-all store.jks --passphrase-file passphrase.txt",
        ])

    static let subcommand = "key import-all"

    @Argument(
        help: ArgumentHelp("A directory, or one file.", valueName: "directory|file"), completion: .file())
    var path: String

    @Option(
        help: ArgumentHelp("Import every key to this merchant.", valueName: "id"), completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "Read the merchants from this CSV file, with the columns file and merchantIdentifier.",
            discussion: "A key whose file is not listed is imported to the merchant that its certificate names.",
            valueName: "file"), completion: .file())
    var merchantsFile: String?

    @Flag(help: "Ask for the passphrase on the terminal.")
    var askPassphrase = false

    @Flag(
        help: """
            Read and list the files, check their form, and change nothing. Decrypts nothing. Counts a PKCS#12 file as \
            one private key.
            """)
    var dryRun = false

    @OptionGroup var options: KeyImportOptions
    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard merchant == nil || merchantsFile == nil else {
            throw ValidationError("--merchant can't be combined with --merchants-file; omit one of the two")
        }
        guard !askPassphrase || options.passphraseFile == nil else {
            throw ValidationError("--ask-passphrase can't be combined with --passphrase-file; omit one of the two")
        }
    }

    func run() async throws {
        let files = try KeyFiles(path)
        let merchants = try merchantsFile.map { try MerchantsOfFiles($0, names: files.names) }
        let passphrase = try self.passphrase()
        if dryRun { return try list(files, merchants, passphrase: passphrase) }
        let defaultReport =
            Directory.exists(path) ? "\(files.directory)key-import-all.report.jsonl" : "\(path).report.jsonl"
        let report = try bulk.openReport(of: Self.subcommand, defaultPath: defaultReport)
        let summary = try await global.withAdminClient(connections: bulk.concurrency) { admin in
            let runStart = try await admin.status().document.time
            var remainingNames = files.names[...]
            // The items of the current file, last item first.
            var itemsOfFile: [KeyFiles.Item] = []
            let imports = BulkRun<KeyFiles.Item>(
                report: report, concurrency: bulk.concurrency, isQuiet: global.quiet)
            return try await imports.run(total: nil) {
                while itemsOfFile.isEmpty, let name = remainingNames.popFirst() {
                    itemsOfFile = files.items(ofFile: name, passphrase: passphrase).reversed()
                }
                return itemsOfFile.popLast()
            } act: { [merchant, fields = options.fields] item, _ in
                let file = KeyFileImport(
                    admin: admin, fields: fields, merchant: merchant ?? merchants?[item.name], runStart: runStart)
                return try await file.run(item)
            }
        }
        try summary.printAndThrowIfFailed(global.printer)
        global.printer.note("the daemon stores the private keys sealed; delete your files when a backup has the keys")
    }

    /// `--dry-run`: shows what would be imported.
    private func list(_ files: KeyFiles, _ merchants: MerchantsOfFiles?, passphrase: String?) throws {
        let items = files.names.flatMap { files.items(ofFile: $0, passphrase: passphrase) }
            .map { (name: $0.name, fault: $0.faultFoundHere) }
        if global.output == .table {
            let rows = items.map { item in
                [
                    Cell(item.name), Cell((merchant ?? merchants?[item.name])?.rawValue ?? "from certificate"),
                    Cell(item.fault),
                ]
            }
            global.printer.show([.table(headings: ["FILE", "MERCHANT", "FAILURE"], rows: rows)])
        }
        let failures = items.compactMap { item in item.fault.map { (item: item.name, reason: $0) } }
        let count = items.count - failures.count
        global.printer.showDryRun(
            "would import \(count.counted("private key"))", itemCount: count, failures: failures)
        guard failures.isEmpty else {
            throw CommandFailure(
                .failed, "\(failures.count) of \(items.count.counted("private key")) can't be imported")
        }
    }

    private func passphrase() throws -> String? {
        if let file = options.passphraseFile { return try Passphrase.read(InputFile(file)) }
        guard askPassphrase else { return nil }
        guard let typed = getpass("Passphrase of the private keys: ") else {
            throw CommandFailure(.failed, "can't ask for the passphrase: there is no terminal; use --passphrase-file")
        }
        defer { explicit_bzero(typed, strlen(typed)) }
        return String(cString: typed)
    }
}
