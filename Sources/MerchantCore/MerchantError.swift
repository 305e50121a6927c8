/// An error of the daemon: a refused request or a failure.
///
/// Programs compare `code`, whose meaning never changes. `detail` says what failed, why and what to do, in lower case,
/// and never holds a secret.
package struct MerchantError: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Code
    package let detail: String
    /// Seconds after which a repeat may succeed; nil if unknown.
    package let retryAfter: Int?
    /// The faults of the request, if the error reports several at once.
    package let findings: [InputFinding]

    package init(_ code: Code, _ detail: String, retryAfter: Int? = nil, findings: [InputFinding] = []) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
        self.findings = findings
    }

    package var description: String { "\(code.rawValue): \(detail)" }

    package enum Code: String, Sendable, CaseIterable {
        // The request cannot be read.
        case malformed
        case tooLarge
        // The caller did not authenticate, or has no permit.
        case unauthorized
        case forbidden
        // The named resource does not exist, or can no longer be used.
        case merchantNotFound
        case keyNotFound
        case keyRevoked
        case keyDestroyed
        case rollNotFound
        /// No access (a machine's credential for the portal) has this name.
        case accessNotFound
        case invitationNotFound
        case notFound
        // The request conflicts with the current state.
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
        /// Too many key pairs of the merchant wait for a certificate.
        case tooManyPendingKeys
        /// Another access (a machine's credential for the portal) has this name or this client certificate.
        case accessExists
        /// The node cannot be removed, because its lease is valid.
        case nodeInUse
        /// Too many invitations of the merchant are open.
        case tooManyInvitations
        /// The settings define no portal.
        case portalNotConfigured
        case idempotencyKeyReused
        // A certificate, key or passphrase that is refused.
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
        /// The request does not say which of the file's private keys to import, or its `keyNumber` is above their
        /// number.
        case privateKeyNotChosen
        case keyUnsupported
        // A payment token that is refused.
        case tokenMalformed
        case tokenKeyMismatch
        case tokenMerchantMismatch
        case tokenMismatch
        case tokenNotVerified
        case decryptionFailed
        case tokenAlreadyClaimed
        // A request for in-app provisioning that is refused.
        /// The setting `provisioning.enabled` is false.
        case provisioningDisabled
        /// Apple's certificates, the nonce or the card data have faults.
        case provisioningDataInvalid
        case nonceAlreadyClaimed
        /// The activation hook reports a failure, or its response cannot be used.
        case activationFailed
        /// The activation hook cannot be run or reached, or did not respond in time.
        case activationUnavailable
        // A registration with Apple, or a domain.
        case registrationNotFound
        case registrationConflict
        case domainNotRegistered
        case tooManyDomains
        case domainFileNotSet
        // A merchant session that is refused.
        /// The domain is not registered for the merchant, according to the daemon's records or to Apple's response.
        case sessionDomainNotRegistered
        /// Apple does not let the identity request sessions for the merchant.
        case sessionMerchantUnauthorized
        /// A platform integrator's identifier was given as the merchant's.
        case sessionMerchantWrongKind
        /// There is no valid identity certificate for the merchant.
        case sessionIdentityMissing
        /// The URL's host is not one of Apple's. An attacker may have sent this URL to make the daemon send a request
        /// to another server.
        case validationURLRefused
        // A merchant token.
        case merchantTokenNotFound
        case merchantTokenStateConflict
        /// The store holds no account number of the merchant token.
        case mpanNotStored
        /// Apple has not generated the token's public key yet.
        case merchantTokenKeyNotReady
        /// The usage information hook reports a failure, or its response cannot be used.
        case usageInformationFailed
        /// The usage information hook cannot be reached, or did not respond in time.
        case usageInformationUnavailable
        // Apple, or the connection to Apple.
        case gatewayRefused
        case gatewayRateLimited
        case gatewayUnauthorized
        case gatewayUntrusted
        case gatewayFailed
        case gatewayUnavailable
        case gatewayNotConfigured
        case gatewayResponseNotReceived
        // The daemon itself.
        case overloaded
        /// The caller sends more requests than the portal accepts from one caller.
        case tooManyRequests
        case storeUnavailable
        case keyDamaged
        /// A backup cannot be created or is not valid.
        case backupFailed
        /// The master key cannot be rotated in the present state.
        case masterKeyConflict
        /// The settings cannot be reloaded, because the file, or a file that it names, has a fault.
        case settingsInvalid
        case internalError
    }
}
