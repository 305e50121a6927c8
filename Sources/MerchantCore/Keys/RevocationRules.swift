import Vocabulary

/// Decides whether a key pair may be revoked, and which warnings the caller gets.
package enum RevocationRules {
    /// The only reason for which an active key that no other key can replace may be revoked.
    package static let compromised = "compromised"
    /// The longest reason in UTF-8 bytes. Apple has the same limit for the reason of an unregistration.
    package static let longestReason = 1024

    /// The merchant's active key pairs other than the one that will be revoked.
    package struct Remaining: Hashable, Sendable {
        /// The number of remaining active key pairs that can replace the revoked one. Such a key pair has the same
        /// purpose and algorithm, and a certificate that is valid now. If the certificate of the revoked key pair has
        /// expired, an expired certificate is enough, because Apple encrypts to neither key pair.
        package let replacements: Int
        /// The number of all remaining active key pairs with the same purpose, to compare with the merchant's target.
        package let active: Int

        package init(replacements: Int, active: Int) {
            self.replacements = replacements
            self.active = active
        }
    }

    /// - Throws: `malformed` if the reason is empty, blank or too long, or has a character that ``DisplayText``
    ///   refuses, such as a control character.
    package static func validate(reason: String) throws(MerchantError) {
        _ = try DisplayText(reason, named: "reason", longest: longestReason)
    }

    /// - Returns: the warnings for the caller.
    /// - Throws: `lastActiveKey` if the key pair is active and no other key pair can replace it, unless the reason is
    ///   ``compromised``.
    package static func check(
        _ keyPair: KeyPair, remaining: Remaining, target: Int, reason: String
    ) throws(MerchantError) -> [String] {
        guard keyPair.state.isActive else { return [] }
        let affected = affected(by: keyPair)
        let kind =
            switch keyPair.purpose {
            case .paymentProcessing: "\(keyPair.algorithm.rawValue) \(keyPair.purpose.rawValue)"
            case .identity: keyPair.purpose.rawValue
            }
        var warnings: [String] = []
        if remaining.replacements == 0 {
            guard reason == compromised else {
                throw MerchantError(
                    .lastActiveKey,
                    "key \(keyPair.publicKeyHash) was not revoked: \(keyPair.merchantIdentifier) has no other active \(kind) key with a valid certificate, so \(affected) would stop; store the certificate of another key first, or revoke with the reason '\(compromised)'"
                )
            }
            warnings.append(
                "no other active \(kind) key of the merchant has a valid certificate: \(affected) stop; store the certificate of another key"
            )
        }
        // The target counts only payment processing key pairs.
        if keyPair.purpose == .paymentProcessing, remaining.active < target {
            warnings.append(
                "the revocation leaves \(remaining.active.counted("active key pair")), below the merchant's target of \(target)"
            )
        }
        return warnings
    }

    /// What stops if a key pair without a replacement is revoked.
    private static func affected(by keyPair: KeyPair) -> String {
        let merchant = keyPair.merchantIdentifier
        return switch keyPair.purpose {
        case .paymentProcessing: "payments to this key"
        case .identity where merchant.isPlatformIntegrator:
            "registrations, sessions of registered merchants and all other calls to Apple with the platform's identity (unless the daemon has another identity of the platform, such as the setting apple.gateway.identity)"
        case .identity: "merchant sessions with the merchantIdentifier \(merchant)"
        }
    }
}
