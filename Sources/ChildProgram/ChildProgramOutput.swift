package import Secrets

/// The output of a program that exited with status 0.
package struct ChildProgramOutput: ~Copyable, Sendable {
    /// The standard output.
    package let bytes: SecretBytes
    /// The beginning of the standard error.
    package let errorOutput: ErrorOutput
}
