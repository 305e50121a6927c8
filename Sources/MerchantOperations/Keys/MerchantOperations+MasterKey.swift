package import MerchantCore

extension MerchantOperations {
    /// - Returns: nil from a daemon that keeps no keys.
    package func masterKeyStatus() async throws -> MasterKeyStatus? { try await masterKey?.status() }

    /// Begins to seal everything anew, under a fresh data key and, unless only that was asked for, a fresh master key.
    /// Audited when it begins and when it ends. Where a rotation is under way, that one goes on.
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool, for request: Request
    ) async throws -> (plan: KeyRotationPlan, status: MasterKeyStatus) {
        guard let masterKey else { throw MerchantError(.notYetAvailable, "this daemon keeps no keys") }
        let plan = try await masterKey.rotate(
            dataKeyOnly: dataKeyOnly, dryRun: dryRun, by: request.caller, requestId: request.requestId)
        return (plan, try await masterKey.status())
    }
}
