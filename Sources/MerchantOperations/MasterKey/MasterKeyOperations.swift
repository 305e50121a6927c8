package import MerchantCore

/// Rotates the master key and the data key. The data key seals the private keys and the account numbers of merchant
/// tokens; the master key seals the data key.
package struct MasterKeyOperations: Sendable {
    private let masterKey: any MasterKeyRotating

    package init(_ masterKey: any MasterKeyRotating) { self.masterKey = masterKey }

    package func masterKeyStatus() async throws -> MasterKeyStatus { try await masterKey.status() }

    /// Starts a rotation: the daemon re-encrypts every private key and account number under a new data key and, unless
    /// `dataKeyOnly` is true, replaces the master key.
    ///
    /// The audit records the start and the end of the rotation. If a rotation is in progress already, no other rotation
    /// starts.
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool, for request: Request
    ) async throws -> (plan: KeyRotationPlan, status: MasterKeyStatus) {
        let plan = try await masterKey.rotate(
            dataKeyOnly: dataKeyOnly, dryRun: dryRun, by: request.caller, requestId: request.requestId)
        return (plan, try await masterKey.status())
    }
}
