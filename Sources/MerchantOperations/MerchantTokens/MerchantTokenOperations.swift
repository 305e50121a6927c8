package import MerchantCore
package import Vocabulary

/// Shows the merchant tokens that the daemon knows, and performs operations on them at Apple.
package struct MerchantTokenOperations: Sendable {
    package typealias Reader = MerchantReading & KeyPairReading & MerchantTokenReading & TokenNotificationReading
    package typealias Writer = MerchantTokenWriting & TokenNotificationWriting & MerchantReading & ChangeRecording
    package typealias Records = Transactions<any Reader, any Writer>

    let records: Records
    private let gateway: any MerchantTokenGateway
    let clock: any WallClock
    /// Idempotency records expire by the confirmed time.
    let confirmedTime: ConfirmedTime

    package init(
        records: Records, gateway: any MerchantTokenGateway, clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.gateway = gateway
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// The longest URL that Apple accepts for notifications, in characters.
    package static let longestNotificationURL = 256

    /// Merchant tokens sorted by identifier, starting after `cursor`.
    ///
    /// - Parameters:
    ///   - merchants: the merchants whose tokens match; nil for all.
    ///   - state: nil for every state.
    package func list(
        of merchants: Set<MerchantIdentifier>?, in state: MerchantToken.State?,
        after cursor: MerchantTokenIdentifier?, limit: Int
    ) async throws -> [MerchantToken] {
        try await records.read { try $0.merchantTokens(of: merchants, in: state, after: cursor, limit: limit) }
    }

    /// - Returns: nil for a token that the daemon does not know.
    func known(_ identifier: MerchantTokenIdentifier) async throws -> MerchantToken? {
        try await records.read { try $0.merchantToken(identifier) }
    }

    /// - Throws: `merchantTokenNotFound`.
    package func token(_ identifier: MerchantTokenIdentifier) async throws -> MerchantToken {
        try await records.read { try $0.existingMerchantToken(identifier) }
    }

    /// Unlinks a merchant token at Apple, then stores the new state. If no response is received, repeat the request:
    /// unlinking a token again changes nothing.
    ///
    /// - Throws: `merchantTokenNotFound`, or a code `gateway…` if the call failed.
    package func unlink(
        _ identifier: MerchantTokenIdentifier, for request: Request
    ) async throws -> MerchantToken {
        let token = try await token(identifier)
        guard token.state == .linked else { return token }
        try await call(token) { try await gateway.unlink(identifier, of: $0, as: $1) }
        return try await change(identifier, .merchantTokenUnlinked, for: request) { $0.state = .unlinked }
    }

    /// Sets the URL to which Apple sends the notifications of a merchant token. Repeatable.
    ///
    /// - Throws: `malformed`, `merchantTokenNotFound`, `merchantTokenStateConflict` if the token is unlinked, or a code
    ///   `gateway…` if the call failed.
    package func setNotificationURL(
        _ url: String, of identifier: MerchantTokenIdentifier, for request: Request
    ) async throws -> MerchantToken {
        try NotificationURL.check(url)
        let token = try await linkedToken(identifier)
        try await call(token) { try await gateway.setNotificationURL(url, of: identifier, of: $0, as: $1) }
        return try await change(identifier, .merchantTokenNotificationURLChanged, for: request) {
            $0.notificationURL = url
        }
    }

    /// The public key with which usage information is encrypted for a merchant token.
    ///
    /// - Throws: `merchantTokenNotFound`, `merchantTokenStateConflict`, `merchantTokenKeyNotReady`, or a code
    ///   `gateway…` if the call failed.
    package func publicKey(of identifier: MerchantTokenIdentifier) async throws -> MerchantTokenPublicKey {
        let token = try await linkedToken(identifier)
        let key = try await call(token) { try await gateway.publicKey(of: identifier, of: $0, as: $1) }
        guard let key else {
            throw MerchantError(
                .merchantTokenKeyNotReady,
                "Apple has not generated the public key of the merchant token \(identifier) yet: repeat the request later"
            )
        }
        return key
    }

    /// Notifies Apple that usage information of a merchant token is ready, so that devices request it. Repeatable.
    ///
    /// - Throws: `merchantTokenNotFound`, `merchantTokenStateConflict`, or a code `gateway…` if the call failed.
    package func notifyUsageInformation(
        of identifier: MerchantTokenIdentifier, for request: Request
    ) async throws {
        let token = try await linkedToken(identifier)
        try await call(token) { try await gateway.notifyUsageInformation(of: identifier, of: $0, as: $1) }
        _ = try await change(identifier, .merchantTokenUsageNotified, for: request) { _ in }
    }

    /// - Throws: `merchantTokenNotFound`; `merchantTokenStateConflict` if the token is unlinked.
    private func linkedToken(_ identifier: MerchantTokenIdentifier) async throws -> MerchantToken {
        let token = try await token(identifier)
        guard token.state == .linked else {
            throw MerchantError(
                .merchantTokenStateConflict,
                "the merchant token \(identifier) is unlinked, so Apple accepts no operation on it")
        }
        return token
    }

    /// Makes a call to Apple as the token's merchant.
    @discardableResult
    private func call<Result: Sendable>(
        _ token: MerchantToken,
        _ body: (MerchantIdentifier, IdentityOwner) async throws -> Result
    ) async throws -> Result {
        let merchant = token.merchantIdentifier
        let owner = try await records.read { try $0.identityOwner(of: merchant) }
        do { return try await body(merchant, owner) } catch let error as GatewayError {
            throw MerchantError(error, of: token.identifier)
        }
    }

    /// Changes the daemon's record of a merchant token after Apple accepted the change, and writes the audit record.
    private func change(
        _ identifier: MerchantTokenIdentifier, _ action: AuditAction, for request: Request,
        _ body: @escaping @Sendable (inout MerchantToken) -> Void
    ) async throws -> MerchantToken {
        let now = clock.now
        return try await records.write { transaction in
            let before = try transaction.existingMerchantToken(identifier)
            var after = before
            body(&after)
            if after != before { try transaction.store(after) }
            try transaction.append(
                request.auditEntry(
                    action, at: now, merchant: after.merchantIdentifier, before: before.state.rawValue,
                    after: after.state.rawValue, reason: "merchantTokenIdentifier=\(identifier)"))
            return after
        }
    }
}

extension MerchantTokenReading {
    /// - Throws: `merchantTokenNotFound`.
    func existingMerchantToken(_ identifier: MerchantTokenIdentifier) throws -> MerchantToken {
        guard let token = try merchantToken(identifier) else {
            throw MerchantError.merchantTokenNotFound(identifier)
        }
        return token
    }
}

extension MerchantError {
    /// The error that a caller gets for a failed call about a merchant token.
    fileprivate init(_ error: GatewayError, of token: MerchantTokenIdentifier) {
        switch error.kind {
        case .notFound:
            self.init(
                .merchantTokenNotFound,
                "the operation on the merchant token \(token) failed: \(error.finding); compare the identifier with those of 'merchant-token list'"
            )
        case .conflict:
            self.init(
                .merchantTokenStateConflict,
                "the operation on the merchant token \(token) failed: \(error.finding); set its notification URL first with 'merchant-token set-notification-url'"
            )
        default: self.init(error)
        }
    }
}
