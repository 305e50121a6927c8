package import MerchantOperations
import Vocabulary

/// The use cases that the portal serves. None of them exports, revokes or destroys a key.
package struct PortalOperations: Sendable {
    let onboarding: OnboardingOperations
    let fleet: FleetOperations
    let accesses: AccessAuthentication
    let invitations: InvitationOperations
    let sessions: PortalSessionOperations
    let merchantSessions: SessionOperations
    let tokenNotifications: TokenNotificationIntake
    /// nil if the settings name no hook for usage information.
    let usageInformation: UsageInformationOperations?
    /// Counts requests that were refused for lack of a permit, until the audit records them.
    let refusals: RefusalLog
    let integrity: IntegrityFindings

    /// Selects the use cases of this server from all use cases of the daemon.
    package init(from operations: Operations) {
        onboarding = operations.onboarding
        fleet = operations.fleet
        accesses = AccessAuthentication(operations.access)
        invitations = operations.invitations
        sessions = operations.portalSessions
        merchantSessions = operations.merchantSessions
        tokenNotifications = operations.tokenNotifications
        usageInformation = operations.usageInformation
        refusals = operations.refusals
        integrity = operations.integrity
    }
}

/// Authenticates machines. The portal cannot create, rotate or revoke an access.
struct AccessAuthentication: Sendable {
    private let operations: AccessOperations

    init(_ operations: AccessOperations) { self.operations = operations }

    func authenticate(token: String) async throws -> AuthenticatedAccess? {
        try await operations.authenticate(token: token)
    }

    func authenticate(certificateFingerprint: Bits256) async throws -> AuthenticatedAccess? {
        try await operations.authenticate(certificateFingerprint: certificateFingerprint)
    }
}
