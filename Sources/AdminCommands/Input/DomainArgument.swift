import ArgumentParser
package import Vocabulary

/// A domain name on the command line, Unicode or ASCII.
package enum DomainArgument {
    package static func parse(_ text: String) throws -> DomainName {
        guard let name = DomainName(anySpelling: text) else {
            throw ValidationError("'\(text.prefix(300))' is no domain name, \(DomainName.expectation)")
        }
        return name
    }
}
