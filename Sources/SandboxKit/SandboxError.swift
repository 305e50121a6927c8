/// An error of the sandbox: lower case, no full stop, no key material.
package struct SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
