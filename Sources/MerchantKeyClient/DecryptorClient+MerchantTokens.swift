import NIOHTTP1
import Vocabulary
import WireAPI

extension DecryptorClient {
    /// Returns the account number of a merchant token (MPAN).
    ///
    /// The daemon stores account numbers only if the setting `merchant-tokens.store-mpan` is true. The audit records
    /// each call that returns an account number, without the number itself. Keep the account number only as long as
    /// needed, and never log it.
    ///
    /// - Parameter identifier: Apple's `merchantTokenIdentifier`.
    /// - Returns: 8 to 19 digits.
    /// - Throws: ``ClientError/refused(_:)`` with the code `mpanNotStored` if the daemon has no account number of this
    ///   merchant token, and `merchantTokenNotFound` if it does not know the merchant token.
    public func mpan(ofMerchantToken identifier: String) async throws(ClientError) -> String {
        guard let token = MerchantTokenIdentifier(text: identifier) else {
            throw .malformed("the merchant token identifier \(MerchantTokenIdentifier.refusal(of: identifier))")
        }
        let response: Response<MPANDocument> = try await httpClient.fetch(
            SocketCall(method: .GET, path: Paths.mpan(of: token)))
        return response.document.mpan
    }
}
