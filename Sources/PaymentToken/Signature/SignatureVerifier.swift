public import FoundationEssentials
package import Vocabulary

/// Verifies that Apple signed a payment token or encrypted token metadata, and signed it recently. The verification
/// needs no key and decrypts nothing.
///
/// Use one verifier for all threads, because it caches certificate chains.
///
/// Source: Apple, "Payment token format reference", "Verify the signature".
public struct SignatureVerifier: Sendable {
    /// The largest permitted difference between the signing time and the time of receipt, in either direction: five
    /// minutes, as in Apple's reference.
    public static let timeWindow = Duration.seconds(300)
    /// The largest number of chains in the cache. Apple uses only a few signing certificates at a time.
    package static let chainCacheCapacity = 64

    private let environment: TokenEnvironment
    private let fullCheck: FullSignatureCheck

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - environment: `production` accepts only tokens of production; `sandbox` accepts tokens of both environments.
    ///   - trustRoots: the root certificates in which chains may end. A root certificate inside a token is never
    ///     trusted.
    public init(environment: TokenEnvironment, trustRoots: [TrustRoot] = [.appleRootCAG3]) {
        self.init(environment: environment, trustRoots: trustRoots, chainCacheCapacity: Self.chainCacheCapacity)
    }

    package init(environment: TokenEnvironment, trustRoots: [TrustRoot], chainCacheCapacity: Int) {
        self.environment = environment
        fullCheck = FullSignatureCheck(
            chainVerifier: ChainVerifier(
                roots: trustRoots.compactMap { X509Certificate(derRepresentation: $0.derRepresentation) }),
            cache: ChainCache(capacity: chainCacheCapacity))
    }

    /// Creates a verifier for the environment in the daemon's settings.
    package init(environment: Environment, trustRoots: [TrustRoot] = [.appleRootCAG3]) {
        switch environment {
        case .production: self.init(environment: TokenEnvironment.production, trustRoots: trustRoots)
        case .sandbox: self.init(environment: TokenEnvironment.sandbox, trustRoots: trustRoots)
        }
    }

    /// Verifies the signature of a token, and returns a result for every check. This method never throws.
    ///
    /// The certificate chain must be valid at the signing time, not now, so that the signature of an old token can be
    /// verified after its certificates have expired.
    ///
    /// - Parameters:
    ///   - token: the token to verify.
    ///   - receivedAt: the time at which the token was received.
    public func verify(_ token: ApplePayToken, receivedAt: Date) -> TokenVerification {
        verify(token, receivedAt: Timestamp(receivedAt))
    }

    package func verify(_ token: ApplePayToken, receivedAt: Timestamp) -> TokenVerification {
        verifyMessage(token, receivedAt: receivedAt)
    }

    /// Verifies the signature of a message with the fast check. If the fast check cannot accept the message, makes the
    /// full check, which decides.
    func verifyMessage(_ message: some AppleMessage, receivedAt: Timestamp) -> TokenVerification {
        verifyWithCachedChain(message, receivedAt: receivedAt) ?? verifyInFull(message, receivedAt: receivedAt)
    }

    /// Makes the fast check only.
    ///
    /// - Returns: nil if the chain is not in the cache, the signature is not encoded exactly as Apple encodes it
    ///   (``AppleSignatureLayout``), or any check other than environment and signing time fails.
    package func verifyWithCachedChain(
        _ message: some AppleMessage, receivedAt: Timestamp
    ) -> TokenVerification? {
        var builder = VerificationBuilder()
        let check = CachedChainCheck(cache: fullCheck.cache)
        guard let signer = check.run(message, &builder) else { return nil }
        return addRemainingChecks(builder, signer, receivedAt)
    }

    /// Makes the full check only.
    package func verifyInFull(_ message: some AppleMessage, receivedAt: Timestamp) -> TokenVerification {
        var builder = VerificationBuilder()
        guard let signer = fullCheck.run(message, &builder) else { return builder.verification() }
        return addRemainingChecks(builder, signer, receivedAt)
    }

    /// Adds the checks of environment and signing time.
    private func addRemainingChecks(
        _ builder: VerificationBuilder, _ signer: SignerDetails, _ receivedAt: Timestamp
    ) -> TokenVerification {
        var builder = builder
        checkEnvironment(signer, &builder)
        checkTime(signer, receivedAt, &builder)
        return builder.verification()
    }

    private func checkEnvironment(_ signer: SignerDetails, _ builder: inout VerificationBuilder) {
        let found = TokenEnvironment(signerCommonNames: signer.commonNames)
        // The sandbox environment accepts tokens of both environments: see TokenEnvironment.
        if found == .sandbox && environment == .production {
            builder.fail(
                .environment, reason: .wrongEnvironment,
                "the signing certificate is of Apple's sandbox environment, expected the production environment")
        } else {
            builder.pass(
                .environment,
                "a signing certificate of the \(found.rawValue) environment is accepted in the "
                    + "\(environment.rawValue) environment")
        }
    }

    private func checkTime(_ signer: SignerDetails, _ receivedAt: Timestamp, _ builder: inout VerificationBuilder) {
        let signedAt = signer.signingTime.timestamp
        let earliest = receivedAt.adding(.zero - Self.timeWindow)
        let latest = receivedAt.adding(Self.timeWindow)
        if earliest <= signedAt && signedAt <= latest {
            builder.pass(.signingTime, "signed at \(signedAt), received at \(receivedAt)")
        } else {
            builder.fail(
                .signingTime, reason: .outsideTimeWindow,
                "the signing time is \(signedAt), expected a time from \(earliest) to \(latest), because the time "
                    + "of receipt is \(receivedAt)")
        }
    }
}
