import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import Vocabulary

struct KeyCSR: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csr", abstract: "Get a key pair's CSR, to be signed by Apple.",
        discussion: """
            PEM to standard output, unless said otherwise. With --all-pending, the CSR of every key pair that waits for \
            its certificate, each in a file of its own; a second run writes those that are missing.
            """)

    @Argument(help: "publicKeyHash, or its beginning.", transform: KeyArgument.parse)
    var key: KeyArgument?

    @Flag(help: "Of every pending key pair.")
    var allPending = false

    @Option(help: ArgumentHelp("Write it there; with --all-pending, a directory.", valueName: "file|directory"))
    var out: String?

    @Flag(help: "DER in place of PEM.")
    var der = false

    @Flag(help: "Overwrite the file.")
    var force = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (key == nil) == allPending else {
            throw ValidationError("found \(allPending ? "both" : "neither"), expected a KEY or --all-pending")
        }
        guard !allPending || out != nil else {
            throw ValidationError("--all-pending has no --out, expected a directory")
        }
    }

    func run() async throws {
        if allPending, let out {
            let directory = try Directory(making: out)
            let summary = try await global.withAdmin(connections: bulk.concurrency) { admin in
                try await PendingCSRs(directory: directory, isDER: der, overwrites: force).run(admin, bulk)
            }
            return try summary.conclude(global.printer)
        }
        guard let key else { return }
        let file = out.map { OutputFile($0, overwrites: force) }
        try file?.judge()
        if der, file == nil, global.output == .table, StandardStream.output.isTerminal {
            throw CommandFailure(.wrongUsage, "DER is not for a terminal, expected --out FILE or a pipe")
        }
        try await global.withAdmin { admin in
            let hash = try await key.resolve(admin)
            let csr = try await admin.csr(of: hash, as: der ? .der : .pem)
            if let file {
                try file.write(csr)
                if !file.isStandardOutput { global.printer.remark("wrote \(file.path)") }
            } else if global.output == .json {
                global.printer.json(Self.document(hash, csr, isDER: der))
            } else {
                global.printer.raw(csr)
            }
        }
    }

    /// PEM as text, DER as Base64.
    private static func document(_ hash: PublicKeyHash, _ csr: Data, isDER: Bool) -> JSONValue {
        let text = isDER ? csr.base64EncodedString() : String(decoding: csr, as: UTF8.self)
        return .object(
            JSONObject(members: [
                .init(name: "csr", value: .string(text)), .init(name: "publicKeyHash", value: .string(hash.base64)),
            ]))
    }
}
