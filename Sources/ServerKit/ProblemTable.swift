package import MerchantCore

/// The HTTP status, problem title and Retry-After of each error code. Only this table translates error codes to HTTP.
package enum ProblemTable {
    /// - Returns: the HTTP status, and the field `title` of every problem document with this code.
    package static func status(of code: MerchantError.Code) -> (status: Int, title: String) {
        switch code {
        case .malformed: (400, "malformed request")
        case .tooLarge: (413, "too large")
        case .unauthorized: (401, "unauthorized")
        case .forbidden: (403, "forbidden")

        case .merchantNotFound: (404, "merchant not found")
        case .keyNotFound: (404, "key not found")
        case .rollNotFound: (404, "roll not found")
        case .accessNotFound: (404, "access not found")
        case .invitationNotFound: (404, "invitation not found")
        case .notFound: (404, "not found")
        case .keyRevoked: (410, "key revoked")
        case .keyDestroyed: (410, "key destroyed")

        case .merchantExists: (409, "merchant exists")
        case .merchantRemoved: (409, "merchant removed")
        case .merchantInUse: (409, "merchant in use")
        case .keyStateConflict: (409, "key in another state")
        case .keyWithoutCertificate: (409, "key without certificate")
        case .lastActiveKey: (409, "last active key")
        case .rollStateConflict: (409, "roll in another state")
        case .rollNotQuiet: (409, "roll not quiet")
        case .currentKeyExists: (409, "current key exists")
        case .keyExists: (409, "key exists")
        case .keyBelongsToAnotherMerchant: (409, "key belongs to another merchant")
        case .tooManyPendingKeys: (409, "too many pending keys")
        case .accessExists: (409, "access exists")
        case .nodeInUse: (409, "node in use")
        case .tooManyInvitations: (409, "too many invitations")
        case .portalNotConfigured: (409, "portal not configured")
        case .tokenAlreadyClaimed: (409, "token already claimed")
        case .provisioningDisabled: (503, "provisioning disabled")
        case .provisioningDataInvalid: (422, "provisioning data invalid")
        case .nonceAlreadyClaimed: (409, "nonce already claimed")
        case .activationFailed: (502, "activation failed")
        case .activationUnavailable: (503, "activation unavailable")
        case .idempotencyKeyReused: (422, "idempotency key reused")

        case .certificateKeyUnknown: (422, "certificate for an unknown key")
        case .certificateForAnotherMerchant: (422, "certificate for another merchant")
        case .certificateWrongKind: (422, "certificate of the wrong kind")
        case .certificateExpired: (422, "certificate expired")
        case .certificateNotYetValid: (422, "certificate not yet valid")
        case .certificateIssuerUntrusted: (422, "certificate issuer untrusted")
        case .certificateMalformed: (422, "certificate malformed")
        case .certificateChain: (422, "more than one certificate")
        case .privateKeyUploaded: (422, "private key uploaded")
        case .privateKeyMalformed: (422, "private key malformed")
        case .wrongPassphrase: (422, "wrong passphrase")
        case .privateKeyNotChosen: (422, "no private key chosen")
        case .keyUnsupported: (422, "key unsupported")

        case .tokenMalformed: (422, "token malformed")
        case .tokenKeyMismatch: (422, "token for another kind of key")
        case .tokenMerchantMismatch: (422, "token of another merchant")
        case .tokenMismatch: (422, "token not as expected")
        case .tokenNotVerified: (422, "token not verified")
        case .decryptionFailed: (422, "decryption failed")

        case .registrationNotFound: (404, "registration not found")
        case .domainNotRegistered: (404, "domain not registered")
        case .domainFileNotSet: (404, "domain file not set")
        case .registrationConflict: (409, "registration call unresolved")
        case .tooManyDomains: (409, "too many domains")
        case .sessionDomainNotRegistered: (422, "domain not registered for the session")
        case .sessionMerchantUnauthorized: (422, "not authorized for the merchant of the session")
        case .sessionMerchantWrongKind: (422, "not a merchant's identifier")
        case .sessionIdentityMissing: (409, "identity certificate missing")
        case .validationURLRefused: (422, "validationURL refused")
        case .merchantTokenNotFound: (404, "merchant token not found")
        case .merchantTokenStateConflict: (409, "merchant token in another state")
        case .mpanNotStored: (404, "account number not stored")
        case .merchantTokenKeyNotReady: (409, "public key not ready")
        case .usageInformationFailed: (502, "usage information failed")
        case .usageInformationUnavailable: (503, "usage information unavailable")
        case .gatewayRefused: (422, "refused by the gateway")
        case .gatewayRateLimited: (429, "rate limited by the gateway")
        case .gatewayUnauthorized: (502, "not authorized at the gateway")
        case .gatewayUntrusted: (502, "gateway untrusted")
        case .gatewayFailed: (502, "failed at the gateway")
        case .gatewayUnavailable: (503, "gateway unavailable")
        case .gatewayNotConfigured: (503, "gateway not configured")
        case .gatewayResponseNotReceived: (504, "gateway response not received")

        case .overloaded: (503, "overloaded")
        case .tooManyRequests: (429, "too many requests")
        case .storeUnavailable: (503, "store unavailable")
        case .backupFailed: (422, "backup failed")
        case .masterKeyConflict: (409, "master key cannot be rotated")
        case .settingsInvalid: (422, "settings invalid")
        case .keyDamaged: (500, "key damaged")
        case .internalError: (500, "internal error")
        }
    }

    /// The value of `Retry-After` in seconds, unless the error itself has a value; nil if the response has no such
    /// header.
    package static func retryAfter(_ code: MerchantError.Code) -> Int? {
        switch code {
        case .overloaded, .storeUnavailable: 1
        case .activationUnavailable, .usageInformationUnavailable: 5
        case .registrationConflict, .gatewayRateLimited, .gatewayUnavailable, .gatewayResponseNotReceived,
            .merchantTokenKeyNotReady:
            15
        // The limits are per minute.
        case .tooManyRequests: 60
        default: nil
        }
    }
}
