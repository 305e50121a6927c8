package import Vocabulary

/// The record of the nonces of in-app provisioning that were used (claimed), so that card data is encrypted only once
/// for each nonce. If several requests claim the same nonce, even at the same time, exactly one of them succeeds.
///
/// A claim is kept for at least 30 days. Apple accepts a nonce only during the provisioning for which the device
/// created it, which takes minutes.
package protocol NonceLedger: Sendable {
    /// Claims a nonce. Returns once the claim is on stable storage.
    ///
    /// - Throws: `nonceAlreadyClaimed`; `overloaded`; `storeUnavailable`. After a failure of the storage, the claim may
    ///   or may not survive a restart.
    func claimNonce(_ claim: NonceClaim) async throws
    /// The claim with this digest; nil if there is none.
    func nonceClaim(_ digest: Bits256) async throws -> NonceClaim?
}

extension MerchantError {
    /// - Parameter time: when the nonce was claimed.
    package static func nonceAlreadyClaimed(at time: Timestamp) -> MerchantError {
        MerchantError(
            .nonceAlreadyClaimed,
            "the nonce was already used at \(time), and card data is encrypted only once for each nonce: let the app begin the provisioning again, with the nonce that Apple sends then"
        )
    }
}
