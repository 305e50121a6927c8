package import MerchantCore
package import Secrets
package import Vocabulary

/// Returns the account numbers of merchant tokens (MPANs) to callers that may decrypt payments.
package struct MPANOperations: Sendable {
    package typealias Records = Transactions<any MerchantTokenReading, any ChangeRecording>

    private let records: Records
    private let custodian: any MPANCustodian
    private let policy: MerchantTokenPolicy
    private let clock: any WallClock

    package init(
        records: Records, custodian: any MPANCustodian, policy: MerchantTokenPolicy, clock: any WallClock
    ) {
        self.records = records
        self.custodian = custodian
        self.policy = policy
        self.clock = clock
    }

    /// Unseals the account number of a merchant token. The audit record, which does not contain the number, is stored
    /// before the number leaves this method.
    ///
    /// - Parameter authorize: throws if the caller has no permit for the token's merchant.
    /// - Returns: 8 to 19 digits in ASCII.
    /// - Throws: `merchantTokenNotFound`, `mpanNotStored`, `keyDamaged`, or `storeUnavailable` if the audit cannot be
    ///   written.
    package func mpan(
        of identifier: MerchantTokenIdentifier, for request: Request,
        authorizing authorize: @Sendable (MerchantIdentifier) throws -> Void
    ) async throws -> SecretBytes {
        let merchant = try await records.read { try $0.existingMerchantToken(identifier).merchantIdentifier }
        try authorize(merchant)
        let mpan = try await unsealed(identifier)
        let entry = request.auditEntry(
            .mpanRead, at: clock.now, merchant: merchant, reason: "merchantTokenIdentifier=\(identifier)")
        do { try await records.write { try $0.append(entry) } } catch let error as MerchantError
            where error.code == .storeUnavailable
        {
            throw MerchantError(
                .storeUnavailable,
                "the account number is not sent, because the audit cannot be written: \(error.detail)",
                retryAfter: error.retryAfter)
        }
        return mpan
    }

    /// If a rotation has sealed the account number under another data key since the first read, reads the account
    /// number again.
    private func unsealed(_ identifier: MerchantTokenIdentifier) async throws -> SecretBytes {
        let sealed = try await sealed(identifier)
        do { return try custodian.openMPAN(sealed) } catch {
            let again = try await self.sealed(identifier)
            guard again.dataKeyIdentifier != sealed.dataKeyIdentifier else { throw error }
            return try custodian.openMPAN(again)
        }
    }

    /// While the setting `merchant-tokens.store-mpan` is false, account numbers that are still stored cannot be read.
    private func sealed(_ identifier: MerchantTokenIdentifier) async throws -> SealedMPAN {
        guard policy.storesMPANs, let stored = try await records.read({ try $0.mpan(of: identifier) }) else {
            throw MerchantError.mpanNotStored(identifier)
        }
        return stored.sealed
    }
}
