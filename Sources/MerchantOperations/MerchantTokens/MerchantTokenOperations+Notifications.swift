package import MerchantCore
package import Vocabulary

extension MerchantTokenOperations {
    /// A merchant has at most this many secret paths for notifications.
    package static let maximumNotificationPaths = 100

    /// The secret paths for notifications of a merchant's tokens, newest first.
    ///
    /// - Throws: `merchantNotFound`.
    package func notificationPaths(of merchant: MerchantIdentifier) async throws -> [TokenNotificationPath] {
        try await records.read { reading in
            _ = try reading.existingMerchant(merchant)
            return try reading.tokenNotificationPaths(of: merchant)
        }
    }

    /// Creates a further secret path for notifications of a merchant's tokens. The former paths stay valid, because
    /// payment requests that were sent earlier contain them.
    ///
    /// - Throws: `merchantNotFound`; `idempotencyKeyReused`; `merchantTokenStateConflict` if the merchant has
    ///   ``maximumNotificationPaths`` paths.
    package func createNotificationPath(
        for merchant: MerchantIdentifier, for request: Request
    ) async throws -> TokenNotificationPath {
        let (now, time) = (clock.now, confirmedTime.reading())
        let path = TokenNotificationPath(
            secret: TokenNotificationPath.newSecret(), merchantIdentifier: merchant, createdAt: now)
        return try await records.write { transaction in
            if let secret = try request.idempotency.earlierResource(in: transaction),
                let earlier = try transaction.tokenNotificationPath(secret)
            {
                return earlier
            }
            _ = try transaction.existingMerchant(merchant)
            guard try transaction.tokenNotificationPaths(of: merchant).count < Self.maximumNotificationPaths else {
                throw MerchantError(
                    .merchantTokenStateConflict,
                    "\(merchant) has \(Self.maximumNotificationPaths) notification URLs, the largest permitted number: use one of them"
                )
            }
            try transaction.insert(path)
            try transaction.append(
                request.auditEntry(.tokenNotificationPathCreated, at: now, merchant: merchant))
            try request.idempotency.remember(path.secret, at: time, in: transaction)
            return path
        }
    }

    /// The notifications whose event must still be fetched from Apple.
    package func queue() async throws -> TokenNotificationQueue {
        try await records.read { try $0.waitingTokenNotifications() }
    }
}
