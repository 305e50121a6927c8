/// An environment of Apple Pay.
public enum TokenEnvironment: String, Sendable, CaseIterable {
    /// Real cards. Tokens of Apple's sandbox are rejected.
    case production
    /// Test cards. Tokens of Apple's sandbox are accepted, and so are real ones.
    case sandbox

    /// Creates the environment to which a signing certificate belongs.
    ///
    /// Sandbox tokens have the same certificate chain and the same extensions as real ones. Only the common name of the
    /// signing certificate is different.
    init(signerCommonNames commonNames: [String]) {
        self = commonNames.contains { $0.uppercased().hasSuffix("_UC4-SANDBOX") } ? .sandbox : .production
    }
}
