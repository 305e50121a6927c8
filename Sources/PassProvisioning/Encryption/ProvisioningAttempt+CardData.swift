extension ProvisioningAttempt {
    /// Encrypts card data to the leaf's key with EV_ECC_v2. This method's copy of the JSON, the shared secret, the
    /// symmetric key and the ephemeral private key are wiped afterwards.
    ///
    /// - Parameters:
    ///   - card: the validated card data.
    ///   - certificates: the verified certificates.
    ///   - version: the encryption scheme that the app requested.
    /// - Throws: ``PassEncryptionError`` if the scheme is not supported or the encryption fails.
    public consuming func encrypt(
        _ card: CardData, for certificates: VerifiedProvisioningCertificates, version: EncryptionVersion = .eccV2
    ) throws(PassEncryptionError) -> EncryptedPass {
        try encrypt(card.serialized(), for: certificates, version: version)
    }

    /// Encrypts card data, and returns each intermediate value.
    ///
    /// The trace contains the card data and the keys. Call this method only for test cards in the sandbox environment.
    public consuming func encryptTraced(
        _ card: CardData, for certificates: VerifiedProvisioningCertificates, version: EncryptionVersion = .eccV2
    ) throws(PassEncryptionError) -> (EncryptedPass, EncryptionTrace) {
        try encryptTraced(card.serialized(), for: certificates, version: version)
    }
}
