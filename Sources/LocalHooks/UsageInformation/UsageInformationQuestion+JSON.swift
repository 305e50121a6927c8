import FoundationEssentials
import MerchantOperations
import Vocabulary

extension UsageInformationQuestion {
    /// The JSON object that the hook gets: `{"authenticationToken", "merchantIdentifier", "merchantTokenIdentifier",
    /// "requestId"}`.
    func json() throws -> [UInt8] {
        struct Document: Encodable {
            let requestId: String
            let merchantIdentifier: String
            let merchantTokenIdentifier: String
            let authenticationToken: String
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(
            encoder.encode(
                Document(
                    requestId: requestId, merchantIdentifier: merchantIdentifier.rawValue,
                    merchantTokenIdentifier: merchantTokenIdentifier.rawValue,
                    authenticationToken: authenticationToken)))
    }
}
