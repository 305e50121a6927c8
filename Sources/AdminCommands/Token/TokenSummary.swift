import FoundationEssentials
package import StrictJSON
package import Vocabulary

/// What anyone can read in a payment token. Nothing of it is verified.
package struct TokenSummary: Hashable, Sendable {
    package let version: String
    package let publicKeyHash: PublicKeyHash
    package let transactionId: String
    /// SHA-256 of the request's applicationData, hexadecimal.
    package let applicationData: String?
    /// Bytes of each part that is Base64, by its name.
    package let sizes: [String: Int]

    /// - Throws: ``CommandFailure`` naming the field that is absent or wrong.
    package init(_ paymentData: JSONObject) throws(CommandFailure) {
        do {
            var fields = JSONFields(paymentData)
            var header = try fields.requiredFields("header")
            version = try fields.requiredString("version")
            let hash = try header.requiredString("publicKeyHash")
            transactionId = try header.requiredString("transactionId")
            applicationData = try header.string("applicationData")
            guard let publicKeyHash = PublicKeyHash(anySpelling: hash) else {
                throw JSONFault("'header.publicKeyHash' is no SHA-256 value in Base64")
            }
            self.publicKeyHash = publicKeyHash
            var sizes: [String: Int] = [:]
            sizes["data"] = try Self.size("data", try fields.requiredString("data"))
            sizes["signature"] = try Self.size("signature", try fields.string("signature"))
            sizes["ephemeralPublicKey"] = try Self.size("ephemeralPublicKey", try header.string("ephemeralPublicKey"))
            sizes["wrappedKey"] = try Self.size("wrappedKey", try header.string("wrappedKey"))
            self.sizes = sizes
        } catch {
            throw CommandFailure(.refused, "the payment token can't be read: \(error)")
        }
    }

    /// How the symmetric key travels.
    package var algorithm: String {
        switch KeyAlgorithm(rawValue: version) {
        case .ecV1: "P-256 key agreement, AES-256-GCM"
        case .rsaV1: "RSA-2048 key wrapping, AES-128-GCM"
        case nil: "unknown to this program"
        }
    }

    private static func size(_ name: String, _ base64: String?) throws(JSONFault) -> Int? {
        guard let base64 else { return nil }
        guard let bytes = Data(base64Encoded: base64) else { throw JSONFault("'\(name)' is not Base64") }
        return bytes.count
    }
}
