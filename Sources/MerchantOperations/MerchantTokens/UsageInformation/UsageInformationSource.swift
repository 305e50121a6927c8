package import Vocabulary

/// The platform's backend, which has the usage information of merchant tokens and knows the devices that may read it.
package protocol UsageInformationSource: Sendable {
    /// - Throws: `usageInformationFailed` if the backend reports a failure or its response cannot be used;
    ///   `usageInformationUnavailable` if it cannot be reached, or does not respond in time. The error contains nothing
    ///   that the backend sent.
    func usageInformation(for question: UsageInformationQuestion) async throws -> UsageInformationAnswer
}

/// What the backend gets when a device asks for the usage information of a merchant token.
package struct UsageInformationQuestion: Hashable, Sendable {
    /// The identifier of the device's request, which the backend can log.
    package let requestId: String
    package let merchantIdentifier: MerchantIdentifier
    package let merchantTokenIdentifier: MerchantTokenIdentifier
    /// The token that the platform gave to Apple for the devices. Only the backend can check it.
    package let authenticationToken: String

    package init(
        requestId: String, merchantIdentifier: MerchantIdentifier, merchantTokenIdentifier: MerchantTokenIdentifier,
        authenticationToken: String
    ) {
        self.requestId = requestId
        self.merchantIdentifier = merchantIdentifier
        self.merchantTokenIdentifier = merchantTokenIdentifier
        self.authenticationToken = authenticationToken
    }
}

package enum UsageInformationAnswer: Hashable, Sendable {
    /// The bytes of the usage information package.
    case package([UInt8])
    /// The backend does not accept the authentication token.
    case notAuthorized
    /// The backend has no usage information of the merchant token.
    case nothing
}
