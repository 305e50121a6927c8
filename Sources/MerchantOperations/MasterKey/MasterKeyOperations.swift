package import MerchantCore

/// Rotates the master key and the data key.
package struct MasterKeyOperations: Sendable {
    /// nil for a daemon without private keys.
    private let masterKey: (any MasterKeyRotating)?

    package init(_ masterKey: (any MasterKeyRotating)?) { self.masterKey = masterKey }

    /// - Returns: nil for a daemon without private keys.
    package func masterKeyStatus() async throws -> MasterKeyStatus? { try await masterKey?.status() }

    /// Starts a rotation: the daemon re-encrypts every private key under a new data key and, unless `dataKeyOnly` is
    /// true, replaces the master key.
    ///
    /// The audit records the start and the end. If a rotation is in progress already, no other one starts.
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool, for request: Request
    ) async throws -> (plan: KeyRotationPlan, status: MasterKeyStatus) {
        guard let masterKey else { throw MerchantError(.notYetAvailable, "this daemon has no private keys") }
        let plan = try await masterKey.rotate(
            dataKeyOnly: dataKeyOnly, dryRun: dryRun, by: request.caller, requestId: request.requestId)
        return (plan, try await masterKey.status())
    }
}
