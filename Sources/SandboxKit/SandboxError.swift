/// An error of the sandbox. Its description begins in lower case, ends without a full stop and contains no key
/// material.
package struct SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
