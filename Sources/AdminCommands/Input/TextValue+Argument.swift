import ArgumentParser
package import Vocabulary

extension TextValue {
    /// Reads an argument of the command line.
    ///
    /// - Throws: `ValidationError`, for which the program exits with status 2.
    package static func parse(_ text: String) throws -> Self {
        // The argument parser prints "The value '…' is invalid for '…': " before this message.
        guard let value = Self(text: text) else { throw ValidationError("it \(refusal(of: text))") }
        return value
    }
}

extension KeyAlgorithm: ExpressibleByArgument {}
extension KeyPurpose: ExpressibleByArgument {}
extension KeyState: ExpressibleByArgument {}
