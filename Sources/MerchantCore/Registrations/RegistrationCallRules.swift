package import Vocabulary

/// The rules that every store checks before it writes a registration or a call to Apple.
extension RegistrationReading {
    /// - Throws: `registrationConflict` while a call of the registration is open.
    package func requireNoOpenCall(of partner: PartnerInternalMerchantIdentifier) throws {
        guard let other = try openCall(of: partner) else { return }
        throw MerchantError(
            .registrationConflict,
            "the outcome of call \(other.number) to Apple for \(partner) is not known yet: try again later")
    }
}

extension MerchantError {
    /// For a registration that is inserted a second time.
    package static func registrationIsStored(_ partner: PartnerInternalMerchantIdentifier) -> MerchantError {
        MerchantError(
            .internalError, "registration \(partner) is already stored: it must be updated, not inserted")
    }

    /// For a call that is closed a second time.
    package static func callIsClosed(_ call: RegistrationCall) -> MerchantError {
        MerchantError(.internalError, "call \(call.number) to Apple already has an outcome, which cannot be changed")
    }
}
