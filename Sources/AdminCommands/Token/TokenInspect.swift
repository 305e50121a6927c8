import ArgumentParser
import MerchantKeyClient
import PaymentToken
import StrictJSON
import Vocabulary
import WireAPI

struct TokenInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what can be read in a payment token without a key.",
        discussion: """
            Signing time, certificates with their extensions and dates, whose key it is for. Nothing of it is verified. \
            The daemon is asked only which stored key the token is for, and may be down.
            """)

    @Argument(help: "The token, or '-'.")
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

/// Which stored key a token is for.
enum StoredKey {
    case found(Answer<KeyDocument>)
    case none
    case notAsked(String)

    init(of hash: PublicKeyHash, _ global: GlobalOptions) async throws {
        do {
            self = .found(try await global.withAdmin { try await $0.key(hash) })
        } catch ClientError.refused(let refusal) where refusal.code == "keyNotFound" {
            self = .none
        } catch let error as ClientError {
            // The token can be inspected without a daemon.
            self = .notAsked("\(error)")
        }
    }

    var cell: Cell {
        switch self {
        case .found(let answer):
            Cell(
                "\(answer.document.state), of \(answer.document.merchantIdentifier)",
                Cell(state: answer.document.state).tone)
        case .none: Cell("none has this publicKeyHash", .warning)
        case .notAsked(let why): Cell("not known: \(why)", .notice)
        }
    }
}
