/// A refusal or failure in the domain's own words.
///
/// `code` is what callers branch on and never changes its meaning; `detail` says what was found and what was expected,
/// in lower case, and never holds a secret.
package struct MerchantError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Code
    package let detail: String
    /// Seconds until asking again can help, where somebody said so.
    package let retryAfter: Int?

    package init(_ code: Code, _ detail: String, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }

    package var description: String { "\(code.rawValue): \(detail)" }

    package enum Code: String, Sendable, CaseIterable {
        // What was sent cannot be read.
        case malformed
        case tooLarge
        // Who asks may not.
        case forbidden
        // What was named is not there.
        case merchantNotFound
        case keyNotFound
        case keyRevoked
        case keyDestroyed
        case rollNotFound
        case notFound
        // What was asked does not fit what is.
        case merchantExists
        case merchantRemoved
        case merchantInUse
        case keyStateConflict
        case keyWithoutCertificate
        case lastActiveKey
        case rollStateConflict
        case rollNotQuiet
        case currentKeyExists
        case keyExists
        case keyBelongsToAnotherMerchant
        case idempotencyKeyReused
        // A certificate, key or passphrase that must not be stored.
        case certificateKeyUnknown
        case certificateForAnotherMerchant
        case certificateWrongKind
        case certificateExpired
        case certificateNotYetValid
        case certificateIssuerUntrusted
        case certificateMalformed
        case certificateChain
        case privateKeyUploaded
        case privateKeyMalformed
        case wrongPassphrase
        case keyUnsupported
        // A payment token that must not be used.
        case tokenMalformed
        case tokenKeyMismatch
        case tokenMerchantMismatch
        case tokenMismatch
        case tokenNotVerified
        case decryptionFailed
        case tokenAlreadyClaimed
        // A registration with Apple, or a domain.
        case registrationNotFound
        case registrationConflict
        case domainNotRegistered
        case tooManyDomains
        case domainFileNotSet
        // Apple, or the way there.
        case gatewayRefused
        case gatewayRateLimited
        case gatewayUnauthorized
        case gatewayUntrusted
        case gatewayFailed
        case gatewayUnavailable
        case gatewayNotConfigured
        case gatewayResponseNotReceived
        // Us.
        case notYetAvailable
        case overloaded
        case storeUnavailable
        case keyDamaged
        /// A backup that cannot be made, or is not what it must be.
        case backupFailed
        /// The master key cannot be rotated as things are.
        case masterKeyConflict
        case internalError
    }
}
