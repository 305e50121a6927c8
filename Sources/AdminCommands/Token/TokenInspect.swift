import ArgumentParser
import MerchantKeyClient
import PaymentToken
import StrictJSON
import Vocabulary
import WireAPI

struct TokenInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show the contents of a payment token that need no key.",
        discussion: """
            Shows the signing time, the certificates with their extensions and dates, and the key that the token is for. Nothing \
            is verified. The daemon is asked only for the stored key, and may be stopped.
            """)

    @Argument(help: "The token file, or '-' for standard input.")
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

/// The daemon's key pair that a token is encrypted to.
enum StoredKey {
    case found(Response<KeyDocument>)
    case none
    case unknown(String)

    init(of hash: PublicKeyHash, _ global: GlobalOptions) async throws {
        do {
            self = .found(try await global.withAdmin { try await $0.key(hash) })
        } catch ClientError.refused(let refusal) where refusal.code == "keyNotFound" {
            self = .none
        } catch let error as ClientError {
            // Everything else in the inspection comes from the token, so the command continues without the daemon.
            self = .unknown("\(error)")
        }
    }

    var cell: Cell {
        switch self {
        case .found(let response):
            Cell(
                "\(response.document.state), of \(response.document.merchantIdentifier)",
                Cell(state: response.document.state).tone)
        case .none: Cell("no stored key has this publicKeyHash", .warning)
        case .unknown(let why): Cell("unknown: \(why)", .notice)
        }
    }
}
