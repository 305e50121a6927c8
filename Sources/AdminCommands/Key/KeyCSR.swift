import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

struct KeyCSR: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "csr", abstract: "Get a key pair's CSR, to be signed by Apple.",
        discussion: "PEM to standard output, unless said otherwise.")

    @Argument(help: "publicKeyHash, or its beginning.", transform: KeyArgument.parse)
    var key: KeyArgument?

    @Flag(help: "Every pending key pair's of every merchant; --out names a directory then.")
    var allPending = false

    @Option(help: ArgumentHelp("Write it there.", valueName: "file"))
    var out: String?

    @Flag(help: "DER in place of PEM.")
    var der = false

    @Flag(help: "Overwrite the file.")
    var force = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard allPending != (key != nil) else {
            throw ValidationError("found \(allPending ? "both" : "neither"), expected a key or --all-pending")
        }
        guard !allPending || (out != nil && out != "-" && !der) else {
            throw ValidationError("--all-pending writes PEM files, expected --out DIRECTORY without --der")
        }
    }

    /// One merchant after the other; what an earlier run wrote is left.
    private func writeAllPending(to directory: String) async throws {
        try await global.withAdmin { admin in
            let merchants = try await admin.merchants().items
            try await BulkRun(global: global).run(merchants, named: \.merchantIdentifier) { merchant in
                guard let identifier = MerchantIdentifier(merchant.merchantIdentifier) else {
                    throw ClientError.protocolViolation("found a merchant identifier that is none")
                }
                let written = try await CSRDirectory(directory).writePending(of: identifier, admin)
                return (written.isEmpty ? .unchanged : .done, written.joined(separator: ", "))
            }
        }
    }

    func run() async throws {
        if allPending, let out { return try await writeAllPending(to: out) }
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
