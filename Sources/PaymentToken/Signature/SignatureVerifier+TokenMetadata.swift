public import FoundationEssentials
package import Vocabulary

extension SignatureVerifier {
    /// Verifies the signature of encrypted token metadata with the checks for payment tokens, and returns a result for
    /// every check. This method never throws.
    ///
    /// Apple does not publish when it signs token metadata: when the event occurs, or when the event is fetched. If
    /// only the check ``TokenVerification/CheckName/signingTime`` fails with the time of the notification, verify again
    /// with the time at which you fetched the event.
    ///
    /// A verified signature alone does not show that the message is token metadata: see ``EncryptedTokenMetadata``.
    ///
    /// - Parameters:
    ///   - metadata: the token metadata to verify.
    ///   - receivedAt: the time at which the token metadata, or the notification of its event, was received.
    public func verify(_ metadata: EncryptedTokenMetadata, receivedAt: Date) -> TokenVerification {
        verify(metadata, receivedAt: Timestamp(receivedAt))
    }

    package func verify(_ metadata: EncryptedTokenMetadata, receivedAt: Timestamp) -> TokenVerification {
        verifyMessage(metadata, receivedAt: receivedAt)
    }
}
