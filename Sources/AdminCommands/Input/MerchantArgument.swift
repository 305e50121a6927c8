import ArgumentParser
package import Vocabulary

/// A merchant identifier on the command line.
package enum MerchantArgument {
    package static func parse(_ text: String) throws -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier(text) else {
            throw ValidationError("'\(text.prefix(300))' is no merchant identifier, \(MerchantIdentifier.expectation)")
        }
        return identifier
    }
}
