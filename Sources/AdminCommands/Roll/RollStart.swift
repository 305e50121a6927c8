import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollStart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Start a roll: generate a new key pair and its CSR.",
        discussion: """
            If the merchant already has an open roll, the command shows that roll and starts no other. With '--csr -', standard \
            output contains only the CSR.
            """,
        examples: [
            "roll start merchant.com.example --csr example.certSigningRequest",
            "roll start --ending-within 60d",
        ])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "Start a roll for every current key whose certificate expires within this time, such as 60d.",
            valueName: "duration"), transform: DurationArgument.parse)
    var endingWithin: DurationArgument?

    @Option(
        help: """
            Algorithm of the new key: EC_v1 or RSA_v1. Default: the algorithm of the merchant's only current key, else EC_v1.
            """)
    var algorithm: KeyAlgorithm?

    @Option(help: ArgumentHelp("Write the CSR to this file, as PEM.", valueName: "file"), completion: .file())
    var csr: String?

    @Flag(help: "Overwrite an existing CSR file.")
    var force = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (endingWithin != nil) != (merchant != nil) else {
            throw ValidationError(
                merchant == nil
                    ? "name a MERCHANT, or use --ending-within"
                    : "a MERCHANT can't be combined with --ending-within; omit one of the two")
        }
        guard endingWithin == nil || csr == nil else {
            throw ValidationError(
                "--csr needs a single merchant; with --ending-within, run 'key csr --all-pending' afterwards")
        }
    }

    func run() async throws {
        if let endingWithin {
            let rolls = ExpiringKeyRolls(within: endingWithin, algorithm: algorithm)
            let summary = try await global.withAdminClient(connections: bulk.concurrency) {
                try await rolls.start($0, bulk, isQuiet: global.quiet)
            }
            return try summary.printAndThrowIfFailed(global.printer)
        }
        guard let merchant else { return }
        let file = csr.map { OutputFile($0, overwrites: force) }
        try file?.checkWritable()
        try await global.withAdminClient { admin in
            let response = try await admin.startRoll(of: merchant, algorithm: algorithm)
            let roll = response.document
            try await writeCSR(of: roll, to: file, admin)
            guard file?.isStandardOutput != true else {
                return global.printer.note("roll \(roll.rollId) to key \(roll.to) is \(roll.state)")
            }
            try global.printer.show(response.json) { roll.blocks }
        }
    }

    private func writeCSR(of roll: RollDocument, to file: OutputFile?, _ admin: AdminClient) async throws {
        guard let file else { return }
        do {
            try file.write(try await admin.csr(of: roll.to, as: .pem))
        } catch {
            let failure =
                (error as? CommandFailure) ?? (error as? ClientError).map { CommandFailure($0) }
                ?? CommandFailure(.failed, "\(error)")
            throw CommandFailure(
                failure.status,
                "roll \(roll.rollId) is open, but its CSR was not written: \(failure.reason); get the CSR with: merchantkeyctl key csr \(roll.to)"
            )
        }
        if !file.isStandardOutput { global.printer.note("wrote \(file.path)") }
    }
}
