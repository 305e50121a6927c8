import FoundationEssentials
import MerchantOperations
import PassProvisioning
import RESTKit
import Secrets
import ServerKit
import StrictJSON
import WireAPI

extension IssuerHandlers {
    /// Encrypts card data for Apple. No copy of the card number may stay in memory: this function overwrites the body
    /// and the arrays of the request. ``RequestInput`` has already overwritten the connection's buffer, and the wiping
    /// allocator overwrites the parser's strings when they are freed.
    func encryptCardData(_ call: RESTCall) async throws -> RESTResponse {
        defer { Wipe.sharedBytes(of: call.body) }
        let request = try ProvisioningRequest(JSONFields(parsing: call.body))
        defer { request.wipe() }
        return try RESTResponse(
            EncryptedPassDocument(try await operations.encrypt(request.order, for: call.request)))
    }
}

extension EncryptedPassDocument {
    fileprivate init(_ card: EncryptedCard) {
        self.init(
            encryptedPassData: card.pass.encryptedPassData.base64EncodedString(),
            ephemeralPublicKey: card.pass.ephemeralPublicKey.base64EncodedString())
        activationData = card.activationData.map { Data($0).base64EncodedString() }
        if !card.warnings.isEmpty { warnings = card.warnings.map(InputFindingDocument.init) }
    }
}
