/// The rules that every store checks before it writes an account number or a notification.
extension MerchantTokenReading {
    /// - Throws: `merchantTokenNotFound`; `merchantTokenStateConflict` if the token is unlinked.
    package func requireLinkedToken(of mpan: SealedMPAN) throws {
        let identifier = mpan.owner.merchantTokenIdentifier
        guard let token = try merchantToken(identifier) else { throw MerchantError.merchantTokenNotFound(identifier) }
        guard token.state == .linked else {
            throw MerchantError(
                .merchantTokenStateConflict,
                "the merchant token \(identifier) is unlinked, so its account number cannot be stored")
        }
    }
}

extension MerchantError {
    /// For a notification that is updated although its event was fetched or given up.
    package static func doesNotWait(_ notification: TokenNotification) -> MerchantError {
        MerchantError(
            .internalError,
            "notification \(notification.sequence) of a merchant token is no longer waiting, so it cannot be changed")
    }
}
