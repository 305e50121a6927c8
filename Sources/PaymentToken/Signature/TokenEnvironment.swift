/// An environment of Apple Pay.
public enum TokenEnvironment: String, Sendable, CaseIterable {
    /// The environment with real cards. A ``SignatureVerifier`` for production rejects tokens of Apple's sandbox.
    case production
    /// The environment with test cards. A ``SignatureVerifier`` for the sandbox also accepts tokens of production.
    case sandbox

    /// Finds the environment to which a signing certificate belongs.
    ///
    /// Signing certificates of the sandbox have the same issuers and extensions as the certificates of production. Only
    /// the common name is different.
    init(signerCommonNames commonNames: [String]) {
        self = commonNames.contains { $0.uppercased().hasSuffix("_UC4-SANDBOX") } ? .sandbox : .production
    }
}
