import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// Imports every private key of one file.
struct KeyFileImport: Sendable {
    /// More private keys than a file of the largest size can contain.
    private static let maximumKeys = 1024
    /// The code of the daemon's refusal if the file has several private keys and the request has no `keyNumber`, or if
    /// the file has fewer private keys than `keyNumber`.
    private static let notChosen = "privateKeyNotChosen"

    let admin: AdminClient
    let fields: KeyImportFields
    /// nil if each key belongs to the merchant that its certificate names.
    let merchant: MerchantIdentifier?
    /// The daemon's time at the start of the run.
    let runStart: Timestamp

    func run(_ item: KeyFiles.Item) async throws -> BulkOutcome {
        let request = try request(item)
        do {
            let only = try await key(request)
            return outcome([only])
        } catch ClientError.refused(let refusal) where refusal.code == Self.notChosen {
            return try await importEach(request)
        }
    }

    /// Imports the private keys one after another, until the daemon responds that the file has no more. A refused
    /// private key does not stop the others.
    private func importEach(_ fileRequest: ImportKeyRequest) async throws -> BulkOutcome {
        var request = fileRequest
        var keys: [KeyDocument] = []
        var failures: [String] = []
        numbers: for number in 1...Self.maximumKeys {
            request.keyNumber = number
            do throws(ClientError) {
                keys.append(try await key(request))
            } catch {
                guard case .refused(let refusal) = error, BulkReaction(to: error, failedCalls: 1) == .fail else {
                    throw error
                }
                if refusal.code == Self.notChosen { break numbers }
                failures.append("private key \(number): \(refusal.code): \(refusal.detail)")
            }
        }
        guard !failures.isEmpty else { return outcome(keys) }
        if !keys.isEmpty {
            let hashes = keys.map(\.publicKeyHash.base64).joined(separator: ", ")
            failures.append("\(keys.count.counted("private key was", "private keys were")) imported: \(hashes)")
        }
        return .failed(failures.joined(separator: "; "))
    }

    private func key(_ request: ImportKeyRequest) async throws(ClientError) -> KeyDocument {
        if let merchant { return try await admin.importKey(to: merchant, request).document }
        return try await admin.importKey(request).document
    }

    /// `unchanged` if the daemon had all keys before this run.
    private func outcome(_ keys: [KeyDocument]) -> BulkOutcome {
        keys.allSatisfy { $0.createdAt < runStart } ? .unchanged(Self.details(keys)) : .done(Self.details(keys))
    }

    /// The details for the report. If the file has several keys, each detail is a list in the order of the file.
    private static func details(_ keys: [KeyDocument]) -> [String: String] {
        func list(_ value: (KeyDocument) -> String) -> String { keys.map(value).joined(separator: ", ") }
        var details = [
            "merchantIdentifier": list(\.merchantIdentifier.rawValue), "publicKeyHash": list(\.publicKeyHash.base64),
            "state": list(\.state.rawValue), "notAfter": list { $0.notAfter?.rfc3339 ?? "" },
        ]
        let warnings = keys.flatMap { $0.warnings ?? [] }
        if !warnings.isEmpty { details["warnings"] = warnings.joined(separator: "; ") }
        return details
    }

    private func request(_ item: KeyFiles.Item) throws(CommandFailure) -> ImportKeyRequest {
        guard let privateKey = item.privateKey else {
            throw item.failure ?? CommandFailure(.failed, "the file can't be read")
        }
        var request = ImportKeyRequest(privateKey: privateKey.base64EncodedString())
        request.certificate = item.certificate?.base64EncodedString()
        request.passphrase = item.passphrase
        request.set(fields)
        return request
    }
}
