import ArgumentParser
import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

struct TokenInspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what can be read in a payment token without a key.",
        discussion: "Nothing of it is verified. The daemon is asked only which stored key the token is for.")

    @Argument(help: "The token, or '-'.")
    var file: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let token = try TokenSummary(try TokenFile.read(file).paymentData)
        let stored = try await storedKey(of: token)
        switch global.output {
        case .json: global.printer.json(try Self.document(token, stored))
        case .table: global.printer.show([Self.record(token, stored)])
        }
    }

    /// Which stored key the token is for.
    private enum StoredKey {
        case found(Answer<KeyDocument>)
        case none
        case notAsked(String)

        var words: String {
            switch self {
            case .found(let answer): "\(answer.document.state), of \(answer.document.merchantIdentifier)"
            case .none: "none has this publicKeyHash"
            case .notAsked(let why): "not known: \(why)"
            }
        }
    }

    private func storedKey(of token: TokenSummary) async throws -> StoredKey {
        do {
            return .found(try await global.withAdmin { try await $0.key(token.publicKeyHash) })
        } catch ClientError.refused(let refusal) where refusal.code == "keyNotFound" {
            return .none
        } catch let error as ClientError {
            // The token can be inspected without a daemon.
            return .notAsked("\(error)")
        }
    }

    private static func record(_ token: TokenSummary, _ stored: StoredKey) -> Block {
        .record(
            [
                ("version", Cell(token.version)),
                ("algorithm", Cell(token.algorithm)),
                ("publicKeyHash", Cell(token.publicKeyHash.base64)),
                ("transactionId", Cell(token.transactionId)),
                ("applicationData", Cell(token.applicationData ?? "none")),
            ]
                + token.sizes.sorted { $0.key < $1.key }.map { ("\($0.key) (bytes)", Cell("\($0.value)")) }
                + [("stored key", Cell(stored.words)), ("verified", "no: nothing was checked")])
    }

    private static func document(_ token: TokenSummary, _ stored: StoredKey) throws -> JSONValue {
        var members: [JSONObject.Member] = [
            .init(name: "version", value: .string(token.version)),
            .init(name: "algorithm", value: .string(token.algorithm)),
            .init(name: "publicKeyHash", value: .string(token.publicKeyHash.base64)),
            .init(name: "transactionId", value: .string(token.transactionId)),
            .init(
                name: "sizes",
                value: .object(
                    JSONObject(members: token.sizes.map { .init(name: $0.key, value: .number(String($0.value))) }))),
        ]
        if let applicationData = token.applicationData {
            members.append(.init(name: "applicationData", value: .string(applicationData)))
        }
        switch stored {
        case .found(let answer): members.append(.init(name: "storedKey", value: try Printer.parse(answer.json)))
        case .none: members.append(.init(name: "storedKey", value: .null))
        case .notAsked(let why): members.append(.init(name: "storedKeyUnknown", value: .string(why)))
        }
        return .object(JSONObject(members: members))
    }
}
