public import FoundationEssentials
package import Vocabulary

/// Which of Apple's two worlds tokens are taken from.
public enum TokenEnvironment: String, Sendable, CaseIterable {
    /// Real cards: tokens of Apple's sandbox are refused.
    case production
    /// Test cards: tokens of Apple's sandbox are accepted.
    case sandbox

    /// OIDs and chain do not tell a token of Apple's sandbox from a real one; the signing certificate's name does.
    init(ofSigner commonNames: [String]) {
        self = commonNames.contains { $0.uppercased().hasSuffix("_UC4-SANDBOX") } ? .sandbox : .production
    }
}

/// Verifies that Apple made a payment token, and made it just now. Needs no key and decrypts nothing.
///
/// Safe to share between threads and meant to be: it remembers chains that held.
///
/// Source: Apple, "Payment token format reference", "Verify the signature".
public struct SignatureVerifier: Sendable {
    /// How far signing time and time of receipt may be apart, on either side: five minutes, as in Apple's reference.
    public static let timeWindow = Duration.seconds(300)
    /// How many chains are remembered; Apple uses a handful of signing certificates at a time.
    package static let rememberedChains = 64

    private let environment: TokenEnvironment
    private let examination: SignatureExamination

    /// - Parameters:
    ///   - environment: which signing certificates to accept.
    ///   - trustRoots: where chains may end; Apple's own root unless said otherwise. None of a token's own certificates
    ///     is ever one.
    public init(environment: TokenEnvironment, trustRoots: [TrustRoot] = [.appleRootCAG3]) {
        self.init(environment: environment, trustRoots: trustRoots, rememberedChains: Self.rememberedChains)
    }

    package init(environment: TokenEnvironment, trustRoots: [TrustRoot], rememberedChains: Int) {
        self.environment = environment
        examination = SignatureExamination(
            judge: ChainVerifier(
                roots: trustRoots.compactMap { X509Certificate(derRepresentation: $0.derRepresentation) }),
            memory: ChainMemory(capacity: rememberedChains))
    }

    /// As above, in the words of a daemon's settings.
    package init(environment: Environment, trustRoots: [TrustRoot] = [.appleRootCAG3]) {
        switch environment {
        case .production: self.init(environment: TokenEnvironment.production, trustRoots: trustRoots)
        case .sandbox: self.init(environment: TokenEnvironment.sandbox, trustRoots: trustRoots)
        }
    }

    /// Makes every check that can be made.
    ///
    /// - Parameters:
    ///   - token: the token as it was read.
    ///   - receivedAt: when the token arrived, by the receiver's clock. Certificates are checked as of the signing time, so
    ///     that an old token's signature can be verified after its certificates expired.
    public func verify(_ token: ApplePayToken, receivedAt: Date) -> TokenVerification {
        verify(token, receivedAt: Timestamp(receivedAt))
    }

    /// As above.
    package func verify(_ token: ApplePayToken, receivedAt: Timestamp) -> TokenVerification {
        verifyByMemory(token, receivedAt: receivedAt) ?? verifyByLibCrypto(token, receivedAt: receivedAt)
    }

    /// The short way alone: nil for a signer not met before, for another shape, and for whatever is not right.
    package func verifyByMemory(_ token: ApplePayToken, receivedAt: Timestamp) -> TokenVerification? {
        var list = Checklist()
        let short = RememberedSignature(memory: examination.memory)
        guard let facts = short.examine(token, &list) else { return nil }
        return conclude(facts, receivedAt, list)
    }

    /// The long way alone.
    package func verifyByLibCrypto(_ token: ApplePayToken, receivedAt: Timestamp) -> TokenVerification {
        var list = Checklist()
        guard let facts = examination.examine(token, &list) else { return list.verification() }
        return conclude(facts, receivedAt, list)
    }

    private func conclude(_ facts: SignedFacts, _ receivedAt: Timestamp, _ list: Checklist) -> TokenVerification {
        var list = list
        checkEnvironment(facts, &list)
        checkTime(facts, receivedAt, &list)
        return list.verification()
    }

    private func checkEnvironment(_ facts: SignedFacts, _ list: inout Checklist) {
        let isOfSandbox = TokenEnvironment(ofSigner: facts.leafCommonNames) == .sandbox
        if isOfSandbox && environment == .production {
            list.fail(
                .environment, "found a signing certificate of Apple's sandbox, expected one for real payments")
        } else {
            list.pass(
                .environment,
                "signing certificate \(isOfSandbox ? "of Apple's sandbox" : "not of Apple's sandbox"), "
                    + "accepted in the \(environment.rawValue) environment")
        }
    }

    private func checkTime(_ facts: SignedFacts, _ receivedAt: Timestamp, _ list: inout Checklist) {
        let signedAt = facts.signingTime.timestamp
        let earliest = receivedAt.adding(.zero - Self.timeWindow)
        let latest = receivedAt.adding(Self.timeWindow)
        let isNear = earliest <= signedAt && signedAt <= latest
        list.record(
            .signingTime, passed: isNear,
            isNear
                ? "signed at \(signedAt), received at \(receivedAt)"
                : "found a signing time of \(signedAt), expected one from \(earliest) to \(latest)")
    }
}
