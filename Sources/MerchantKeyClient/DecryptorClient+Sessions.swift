package import FoundationEssentials
import NIOHTTP1
import Vocabulary
package import WireAPI

extension DecryptorClient {
    /// Requests a merchant session from Apple. The daemon authenticates with the identity certificate of the merchant
    /// or of the platform.
    ///
    /// Pass the session to the page unchanged, as the argument of `completeMerchantValidation`. A session is for one
    /// payment: never store a session, and request a new session for each payment. If a call throws
    /// ``ClientError/unreachable(socketPath:why:)``, call again: a session that was not received has no effect.
    ///
    /// - Parameter parameters: the merchant that is paid, and where the buyer pays.
    /// - Returns: Apple's JSON object, byte for byte.
    /// - Throws: ``ClientError/refused(_:)`` with a code `session…`, `validationURLRefused` or `gateway…`.
    public func requestMerchantSession(
        _ parameters: MerchantSessionParameters
    ) async throws(ClientError) -> [UInt8] {
        Array(try await requestMerchantSession(parameters.request()))
    }

    package func requestMerchantSession(_ request: MerchantSessionRequest) async throws(ClientError) -> Data {
        try await httpClient.send(
            SocketCall(method: .POST, path: Paths.merchantSessions, body: try .encoded(request)))
    }
}

extension MerchantSessionParameters {
    fileprivate func request() throws(ClientError) -> MerchantSessionRequest {
        var request = MerchantSessionRequest(
            displayName: displayName, initiative: place.initiative, initiativeContext: place.initiativeContext)
        switch merchant {
        case .identifier(let text):
            guard let identifier = MerchantIdentifier(text: text) else {
                throw .malformed("merchantIdentifier \(MerchantIdentifier.refusal(of: text))")
            }
            request.merchantIdentifier = identifier
        case .registration(let text):
            guard let partner = PartnerInternalMerchantIdentifier(text: text) else {
                throw .malformed(
                    "partnerInternalMerchantIdentifier \(PartnerInternalMerchantIdentifier.refusal(of: text))")
            }
            request.partnerInternalMerchantIdentifier = partner
        }
        request.domainName = place.domainName
        request.validationURL = validationURL
        return request
    }
}
