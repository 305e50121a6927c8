import ArgumentParser
package import Vocabulary

/// A partnerInternalMerchantIdentifier on the command line.
package enum PartnerArgument {
    package static func parse(_ text: String) throws -> PartnerInternalMerchantIdentifier {
        guard let partner = PartnerInternalMerchantIdentifier(text) else {
            throw ValidationError(
                "'\(text.prefix(300))' is no partnerInternalMerchantIdentifier, \(PartnerInternalMerchantIdentifier.expectation)"
            )
        }
        return partner
    }
}
