public import FoundationEssentials

/// The results of all checks of a token's signature, in a fixed order.
public struct TokenVerification: Sendable, Hashable {
    /// The names of the checks, in the order of ``TokenVerification/checks``.
    public enum CheckName: String, Sendable, CaseIterable {
        /// The signature is one CMS message in the form that Apple sends: detached, one signer, SHA-256, and all
        /// required signed attributes.
        case structure
        /// The signed digest is the digest of this token's content.
        case messageDigest
        /// The signature over the signed attributes verifies with the signing certificate's public key.
        case signature
        /// The signing certificate and the intermediate have the extensions by which Apple marks certificates for
        /// payment tokens.
        case markerExtensions = "markers"
        /// The signing certificate, the intermediate and a trusted root form a chain that is valid at the signing time.
        case certificateChain
        /// The signing certificate belongs to an accepted environment.
        case environment
        /// The signing time is at most five minutes before or after the time of receipt.
        case signingTime
    }

    /// The outcome of a check.
    public enum Outcome: String, Sendable, CaseIterable {
        /// The check passed.
        case passed
        /// The check failed. The token is not verified.
        case failed
        /// The check was not made. In a ``TokenVerification``, the reason is that an earlier check failed, and the
        /// token is not verified. In a ``TransactionCheck``, the reason is that there is no expected value.
        case notChecked
    }

    /// The result of one check.
    public struct Check: Sendable, Hashable {
        /// The name of the check.
        public let name: CheckName
        /// The outcome of the check.
        public let outcome: Outcome
        /// A human-readable text with the found values and, if the check failed, the expected values. It begins in
        /// lower case, has no full stop, and contains no secrets.
        public let finding: String
        /// Why the check failed; nil if the check passed or was not made.
        package let failureReason: FailureReason?

        static func notChecked(_ name: CheckName) -> Check {
            Check(
                name: name, outcome: .notChecked, finding: "not checked, because an earlier check failed",
                failureReason: nil)
        }
    }

    /// The results of all checks, in the order of the cases of ``CheckName``.
    public let checks: [Check]
    /// The signing time in the signature; nil if it cannot be read. Trust it only if ``isVerified`` is true.
    public let signingTime: Date?

    /// Whether every check passed.
    public var isVerified: Bool { checks.allSatisfy { $0.outcome == .passed } }

    /// The checks that failed or were not made.
    public var unpassedChecks: [Check] { checks.filter { $0.outcome != .passed } }

    /// The result of the check with this name.
    public subscript(_ name: CheckName) -> Check {
        checks.first { $0.name == name } ?? .notChecked(name)
    }

    /// Throws an error unless every check passed.
    ///
    /// - Throws: ``PaymentTokenError`` with code `verificationFailed`. Its detail describes the first check that
    ///   failed.
    public func requireVerified() throws(PaymentTokenError) {
        guard let check = checks.first(where: { $0.outcome == .failed }) ?? unpassedChecks.first else { return }
        throw PaymentTokenError(.verificationFailed, "\(check.name.rawValue): \(check.finding)")
    }
}
