import ArgumentParser
import MerchantKeyClient
import PaymentToken
import StrictJSON
import Vocabulary
import WireAPI

struct TokenInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show the parts of a payment token that are not encrypted.",
        discussion: """
            Shows the signing time, the certificates with their extensions and dates, and the key that the token is encrypted \
            to. Nothing is verified. The command asks the daemon whether it has this key, and also works without the daemon.
            """,
        examples: ["token inspect token.json"])

    @Argument(help: "The token file, or '-' for standard input.", completion: .file())
    var file: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let token = try TokenFile.read(file).token()
        let stored = try await StoredKey(of: token.publicKeyHash, global)
        let inspection = token.inspection()
        switch global.output {
        case .json: global.printer.json(try inspection.document(stored))
        case .table: global.printer.show(inspection.blocks(stored))
        }
    }
}

/// Whether the daemon has the key pair that a token is encrypted to; `unknown` if the daemon did not say.
enum StoredKey {
    case found(Response<KeyDocument>)
    case notStored
    /// The daemon could not be reached, or refused the request, for this reason.
    case unknown(String)

    init(of hash: PublicKeyHash, _ global: GlobalOptions) async throws {
        do {
            self = .found(try await global.withAdminClient { try await $0.key(hash) })
        } catch ClientError.refused(let refusal) where refusal.code == "keyNotFound" {
            self = .notStored
        } catch let error as ClientError {
            // All other results come from the token itself, so the command continues without the daemon.
            self = .unknown("\(error)")
        }
    }

    var cell: Cell {
        switch self {
        case .found(let response):
            Cell(
                "\(response.document.state), of \(response.document.merchantIdentifier)",
                Cell(state: response.document.state).tone)
        case .notStored: Cell("no stored key has this publicKeyHash", .warning)
        case .unknown(let why): Cell("unknown: \(why)", .notice)
        }
    }
}
