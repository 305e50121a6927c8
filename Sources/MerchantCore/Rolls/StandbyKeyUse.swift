package import Vocabulary

/// The use of a `standby` key pair that is not the new key pair of an open roll, such as a reserve key pair or the new
/// key pair of an abandoned roll.
///
/// Tokens for such a key pair show that its certificate is active at Apple, although the daemon has another `current`
/// key pair or none. The daemon decrypts the tokens, but does not promote the key pair, so an admin must do that. There
/// is one exception: with ``RollPolicy/promotesOnFirstDecryption``, the daemon promotes the key pair if the merchant
/// has no current key pair of the algorithm, and no other active key pair of the algorithm with a newer certificate.
package enum StandbyKeyUse {
    /// The time of the last token of a standby key pair, if Apple encrypts to this key pair now. This is assumed if
    /// there is no current key pair, or if the token is newer than the promotion of the current key pair, and newer
    /// than the last token for the current key pair.
    ///
    /// - Parameters:
    ///   - use: all uses of the standby key pair.
    ///   - current: the current key pair of the same merchant and algorithm; nil if there is none.
    /// - Returns: nil if Apple encrypts to another key pair, or if this is unknown.
    package static func lastDecryption(
        of standby: KeyPair, use: KeyUse?, current: KeyPair?, currentUse: KeyUse?
    ) -> Timestamp? {
        guard standby.purpose == .paymentProcessing, standby.state == .standby, let last = use?.decryptions?.last,
            last >= standby.stateSince
        else { return nil }
        guard let current else { return last }
        let lastOfCurrent = max(current.stateSince, currentUse?.decryptions?.last ?? current.stateSince)
        return last > lastOfCurrent ? last : nil
    }

    /// Whether the tokens of a standby key pair may be late: Apple encrypted them before the current key pair replaced
    /// the standby key pair. This happens if an old and a new key pair were imported as `standby`, and the new key pair
    /// was promoted.
    ///
    /// Apple replaces a certificate only with a newer one (``SuccessorChoice/isNewer(_:than:)``). A token that confirms
    /// the promotion of the current key pair shows that Apple has replaced the certificate. After the promotion,
    /// late tokens arrive for at most ``RollPolicy/quietPeriod``.
    package static func mayBeLate(
        _ decryptions: Occurrences, for certificate: StoredCertificate?, current: KeyPair, currentUse: KeyUse?,
        currentCertificate: StoredCertificate?, quietPeriod: Duration
    ) -> Bool {
        guard let certificate, let currentCertificate, currentUse?.promotionConfirmedAt != nil,
            SuccessorChoice.isNewer(currentCertificate, than: certificate)
        else { return false }
        return decryptions.first < current.stateSince && decryptions.last < current.stateSince.adding(quietPeriod)
    }
}
