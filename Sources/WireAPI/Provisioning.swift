extension Paths {
    package static let provisioningRequests = "/v1/in-app-provisioning/requests"
}

/// The response of `POST /v1/in-app-provisioning/requests`: the values that the app gives to `PKAddPaymentPassRequest`.
/// Each value is encoded in Base64 once.
package struct EncryptedPassDocument: Codable, Hashable, Sendable {
    /// The encrypted card data, followed by the 16-byte GCM tag.
    package let encryptedPassData: String
    /// The 65 bytes of the uncompressed point.
    package let ephemeralPublicKey: String
    /// The network's one-time password; absent if neither the request nor an activation hook gave it.
    package var activationData: String?
    /// What may go wrong at Apple or at the network although the daemon accepted the request; absent if there are no
    /// warnings.
    package var warnings: [InputFindingDocument]?

    package init(encryptedPassData: String, ephemeralPublicKey: String) {
        (self.encryptedPassData, self.ephemeralPublicKey) = (encryptedPassData, ephemeralPublicKey)
    }
}
