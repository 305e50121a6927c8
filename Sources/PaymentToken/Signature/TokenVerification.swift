public import FoundationEssentials

/// What the checks of a token's signature found: one entry for each, in a fixed order, none left out.
public struct TokenVerification: Sendable, Hashable {
    /// The checks, in the order in which they are made.
    public enum CheckName: String, Sendable, CaseIterable {
        /// One CMS message of the form Apple sends: detached, one signer, SHA-256, the signed attributes it must have.
        case structure
        /// The digest that was signed is the digest of this token's content.
        case messageDigest
        /// The signing certificate's key made the signature over the signed attributes.
        case signature
        /// The signing certificate and its issuer carry Apple's marker extensions.
        case markers
        /// Signing certificate, intermediate and a trusted root form a chain that was valid at the signing time.
        case certificateChain
        /// The signing certificate belongs to the environment that is served.
        case environment
        /// The signing time is near the time of receipt.
        case signingTime
    }

    /// How a check ended.
    public enum Outcome: String, Sendable, CaseIterable {
        /// It holds.
        case passed
        /// It does not hold: the token is refused.
        case failed
        /// An earlier check left nothing to judge: the token is refused.
        case notChecked
    }

    /// One check and what it found.
    public struct Check: Sendable, Hashable {
        /// Which check.
        public let name: CheckName
        /// How it ended.
        public let outcome: Outcome
        /// What was found, and where it failed also what was expected. Lower case, no full stop, nothing secret.
        public let finding: String
    }

    /// Every check, in the order of ``CheckName``.
    public let checks: [Check]
    /// When the token says it was signed; nil where that could not be read. Trust it only if ``isVerified``.
    public let signingTime: Date?

    /// Whether every check passed.
    public var isVerified: Bool { checks.allSatisfy { $0.outcome == .passed } }

    /// The checks that did not pass.
    public var refusals: [Check] { checks.filter { $0.outcome != .passed } }

    /// One check's entry.
    public subscript(_ name: CheckName) -> Check {
        checks.first { $0.name == name } ?? Check(name: name, outcome: .notChecked, finding: Self.nothingToJudge)
    }

    /// - Throws: ``PaymentTokenError`` with code `verificationFailed` and the first check that failed, unless every
    ///   check passed.
    public func requireVerified() throws(PaymentTokenError) {
        guard let refusal = checks.first(where: { $0.outcome == .failed }) ?? refusals.first else { return }
        throw PaymentTokenError(.verificationFailed, "\(refusal.name.rawValue): \(refusal.finding)")
    }

    static let nothingToJudge = "not judged, because an earlier check failed"
}
