package import HTTPKit
package import MerchantCore

/// Whether a client should send a request again after an error. `x-retry` in `schema/openapi.yaml` and `docs/errors.md`
/// have the same advice for each code.
package enum RetryAdvice: String, Sendable, CaseIterable {
    /// Do not send the request again unchanged: it gets the same error until the cause is removed.
    case never
    /// Send the request again after the number of seconds in `Retry-After`, unchanged and with the same
    /// `Idempotency-Key` if it has one.
    case afterRetryAfter
    /// Send the request again after a short pause, unchanged and with the same `Idempotency-Key` if it has one: the
    /// request may have had its effect although it failed.
    case afterPause
}

extension ProblemTable {
    package static func retryAdvice(_ code: MerchantError.Code) -> RetryAdvice {
        switch code {
        case .overloaded, .tooManyRequests, .storeUnavailable, .registrationConflict, .gatewayRateLimited,
            .gatewayUnavailable, .gatewayResponseNotReceived, .activationUnavailable, .merchantTokenKeyNotReady,
            .usageInformationUnavailable:
            .afterRetryAfter
        case .internalError, .gatewayFailed: .afterPause
        case .malformed, .tooLarge, .unauthorized, .forbidden, .merchantNotFound, .keyNotFound, .keyRevoked,
            .keyDestroyed, .rollNotFound, .accessNotFound, .invitationNotFound, .notFound, .merchantExists,
            .merchantRemoved, .merchantInUse, .keyStateConflict, .keyWithoutCertificate, .lastActiveKey,
            .rollStateConflict, .rollNotQuiet, .currentKeyExists, .keyExists, .keyBelongsToAnotherMerchant,
            .tooManyPendingKeys, .accessExists, .nodeInUse, .tooManyInvitations, .portalNotConfigured,
            .idempotencyKeyReused,
            .certificateKeyUnknown, .certificateForAnotherMerchant, .certificateWrongKind, .certificateExpired,
            .certificateNotYetValid, .certificateIssuerUntrusted, .certificateMalformed, .certificateChain,
            .privateKeyUploaded, .privateKeyMalformed, .wrongPassphrase, .privateKeyNotChosen, .keyUnsupported,
            .tokenMalformed,
            .tokenKeyMismatch, .tokenMerchantMismatch, .tokenMismatch, .tokenNotVerified, .decryptionFailed,
            .tokenAlreadyClaimed, .provisioningDisabled, .provisioningDataInvalid, .nonceAlreadyClaimed,
            .activationFailed, .registrationNotFound, .domainNotRegistered, .tooManyDomains, .domainFileNotSet,
            .sessionDomainNotRegistered, .sessionMerchantUnauthorized, .sessionMerchantWrongKind,
            .sessionIdentityMissing, .validationURLRefused,
            .merchantTokenNotFound, .merchantTokenStateConflict, .mpanNotStored, .usageInformationFailed,
            .gatewayRefused, .gatewayUnauthorized, .gatewayUntrusted, .gatewayNotConfigured, .keyDamaged,
            .backupFailed, .masterKeyConflict, .settingsInvalid:
            .never
        }
    }

    package static func retryAdvice(_ fault: HTTPFault) -> RetryAdvice {
        switch fault {
        case .requestTooSlow: .afterPause
        case .hostMissing, .hostRepeated, .hostInvalid, .versionNotSupported, .lengthConflict,
            .transferCodingUnsupported, .transferCodingInvalid, .bodyTooLarge, .connectNotImplemented, .headTooLarge,
            .headMalformed, .methodNotAllowed, .malformedTarget:
            .never
        }
    }
}
