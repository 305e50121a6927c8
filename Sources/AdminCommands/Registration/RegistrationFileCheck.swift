import MerchantKeyClient
import Vocabulary
import WireAPI

/// Checks a file of registrations against the daemon's data, before anything is registered. Finds errors that the file
/// alone does not show.
struct RegistrationFileCheck {
    let admin: AdminClient

    /// - Parameter path: the name of the file in messages.
    /// - Throws: ``CommandFailure`` if a line names a merchant that the daemon does not have, or if a line has no name
    ///   and its merchant is not registered yet. The message names the lines of the first errors
    ///   (``CommandFailure/shownFileErrors``).
    func run(_ file: RegistrationFile, named path: String) async throws {
        var errors: [String] = []
        var knownMerchants: Set<MerchantIdentifier> = []
        for line in file.lines {
            if let merchant = line.request.merchantIdentifier, !knownMerchants.contains(merchant) {
                if try await isStored({ try await admin.merchant(merchant) }) {
                    knownMerchants.insert(merchant)
                } else {
                    errors.append("line \(line.lineNumber): there is no merchant \(merchant); add the merchant first")
                }
            }
            let partner = line.request.partnerInternalMerchantIdentifier
            if line.request.partnerMerchantName == nil,
                try await !isStored({ try await admin.registration(partner, refresh: false) })
            {
                errors.append(
                    "line \(line.lineNumber): 'partnerMerchantName' is empty, but \(partner) is not registered yet; give a name"
                )
            }
        }
        guard errors.isEmpty else {
            throw CommandFailure.fileErrors(errors, in: path, RegistrationFile.nothingDone)
        }
    }

    /// - Returns: false if the daemon responds with 404.
    private func isStored<Document: Decodable & Sendable>(
        _ call: () async throws -> Response<Document>
    ) async throws -> Bool {
        do {
            _ = try await call()
            return true
        } catch ClientError.refused(let refusal) where refusal.status == 404 {
            return false
        }
    }
}
