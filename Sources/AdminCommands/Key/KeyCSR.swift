import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import Vocabulary

struct KeyCSR: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csr", abstract: "Print or write a key pair's CSR, for Apple to sign.",
        discussion: """
            Prints the CSR as PEM to standard output by default. --all-pending writes one file for each key pair that has no \
            certificate yet; a second run writes only the files that are missing.
            """,
        examples: [
            "key csr aXryfzzh --out example.certSigningRequest",
            "key csr --all-pending --out csrs",
        ])

    @Argument(
        help: "The key's publicKeyHash, or its first characters (at least 4).", completion: .key,
        transform: KeyArgument.parse)
    var key: KeyArgument?

    @Flag(help: "Instead of one CSR, write the CSRs of all merchants' key pairs that have no certificate yet.")
    var allPending = false

    @Option(
        help: ArgumentHelp("Write to this file; with --all-pending, into this directory.", valueName: "file|directory"),
        completion: .file())
    var out: String?

    @Flag(help: "Use DER instead of PEM.")
    var der = false

    @Flag(help: "Overwrite existing files.")
    var force = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (key == nil) == allPending else {
            throw ValidationError(
                allPending
                    ? "a KEY can't be combined with --all-pending; omit one of the two"
                    : "name a KEY, or use --all-pending")
        }
        guard !allPending || out != nil else {
            throw ValidationError("--all-pending needs --out with a directory")
        }
    }

    func run() async throws {
        if allPending, let out {
            let directory = try Directory(creating: out)
            let summary = try await global.withAdminClient(connections: bulk.concurrency) { admin in
                try await PendingCSRs(directory: directory, isDER: der, overwrites: force).run(
                    admin, bulk, isQuiet: global.quiet)
            }
            return try summary.printAndThrowIfFailed(global.printer)
        }
        guard let key else { return }
        let file = out.map { OutputFile($0, overwrites: force) }
        try file?.checkWritable()
        if der, file == nil, global.output == .table, StandardStream.output.isTerminal {
            throw CommandFailure(
                .wrongUsage, "DER is binary and is not printed on a terminal; use --out FILE or redirect the output")
        }
        try await global.withAdminClient { admin in
            let hash = try await key.resolve(admin)
            let csr = try await admin.csr(of: hash, as: der ? .der : .pem)
            if let file {
                try file.write(csr)
                if !file.isStandardOutput { global.printer.note("wrote \(file.path)") }
            } else if global.output == .json {
                global.printer.json(Self.document(hash, csr, isDER: der))
            } else {
                global.printer.raw(csr)
            }
        }
    }

    /// The JSON output, with the CSR as PEM text, or as DER in Base64.
    private static func document(_ hash: PublicKeyHash, _ csr: Data, isDER: Bool) -> JSONValue {
        let text = isDER ? csr.base64EncodedString() : String(decoding: csr, as: UTF8.self)
        return .object(
            JSONObject(members: [
                .init(name: "csr", value: .string(text)), .init(name: "publicKeyHash", value: .string(hash.base64)),
            ]))
    }
}
