/// Why the sandbox refused or failed: what was found and what was expected. Lower case, no full stop, no key material.
package struct SandboxFault: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
