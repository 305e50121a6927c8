package import MerchantCore
package import MerchantOperations
package import Vocabulary
package import WireAPI

extension RequestedRegistration {
    /// - Throws: `tooManyDomains`.
    package init(_ request: RegisterRequest) throws(MerchantError) {
        self.init(
            partnerInternalMerchantIdentifier: request.partnerInternalMerchantIdentifier,
            partnerMerchantName: request.partnerMerchantName,
            domainNames: try Registration.checkCount(request.domainNames), encryptTo: request.encryptTo,
            merchantUrl: request.merchantUrl, merchantIdentifier: request.merchantIdentifier)
    }
}

extension Registration {
    /// - Returns: `names`, unchanged.
    /// - Throws: `tooManyDomains` if there are more names than a registration can have.
    package static func checkCount(_ names: [DomainName]) throws(MerchantError) -> [DomainName] {
        guard names.count <= maximumDomains else {
            throw MerchantError(
                .tooManyDomains, "'domainNames' has \(names.count) names, expected at most \(maximumDomains)")
        }
        return names
    }
}
