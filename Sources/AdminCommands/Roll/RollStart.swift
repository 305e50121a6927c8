import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollStart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start", abstract: "Begin a roll: a new key pair and its CSR.",
        discussion: "Repeating it answers the roll that is open. With '--csr -' standard output holds the CSR alone.")

    @Argument(help: "Whose key pair is to be replaced.", transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "In place of one merchant every one whose current certificate ends so soon, such as 60d.",
            valueName: "duration"), transform: DurationArgument.parse)
    var endingWithin: DurationArgument?

    @Option(help: "EC_v1 or RSA_v1. Default: that of the merchant's only current key, else EC_v1.")
    var algorithm: AlgorithmArgument?

    @Option(help: ArgumentHelp("Write the CSR there, as PEM.", valueName: "file"))
    var csr: String?

    @Flag(help: "Overwrite the CSR's file.")
    var force = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (endingWithin != nil) != (merchant != nil) else {
            throw ValidationError(
                "found \(merchant == nil ? "neither" : "both"), expected a merchant or --ending-within")
        }
        guard endingWithin == nil || csr == nil else {
            throw ValidationError("--ending-within writes no CSR, expected key csr --all-pending afterwards")
        }
    }

    func run() async throws {
        if let endingWithin {
            let rolls = EndingRolls(within: endingWithin, algorithm: algorithm?.rawValue)
            let summary = try await global.withAdmin(connections: bulk.concurrency) { try await rolls.start($0, bulk) }
            return try summary.conclude(global.printer)
        }
        guard let merchant else { return }
        let file = csr.map { OutputFile($0, overwrites: force) }
        try file?.judge()
        try await global.withAdmin { admin in
            let answer = try await admin.startRoll(of: merchant, algorithm: algorithm?.rawValue)
            let roll = answer.document
            try await write(file, roll, admin)
            guard file?.isStandardOutput != true else {
                return global.printer.remark("roll \(roll.rollId) to key \(roll.to) is \(roll.state)")
            }
            try global.printer.show(answer.json) { roll.blocks }
        }
    }

    private func write(_ file: OutputFile?, _ roll: RollDocument, _ admin: AdminClient) async throws {
        guard let file else { return }
        guard let hash = PublicKeyHash(anySpelling: roll.to) else {
            throw ClientError.protocolViolation("found a publicKeyHash that is none")
        }
        do {
            try file.write(try await admin.csr(of: hash, as: .pem))
        } catch let failure as CommandFailure {
            throw CommandFailure(
                .refused,
                "roll \(roll.rollId) began, but \(failure.message); get its CSR with: merchantkeyctl key csr \(roll.to)"
            )
        }
        if !file.isStandardOutput { global.printer.remark("wrote \(file.path)") }
    }
}
