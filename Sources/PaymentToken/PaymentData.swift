/// What a payment token held, field by field, in Apple's words.
///
/// It prints as a placeholder: nothing of it belongs into a log. ``maskedFields`` is for people.
///
/// Source: Apple, "Payment token format reference", keys of the decrypted payment data.
public struct PaymentData: Sendable {
    /// The device's or merchant's account number, which stands for the card: 8 to 19 digits.
    public let applicationPrimaryAccountNumber: SensitiveText
    /// YYMMDD.
    public let applicationExpirationDate: String
    /// ISO 4217, numeric, leading zeros kept: `840`, `036`.
    public let currencyCode: String
    /// In minor units, exactly as sent.
    public let transactionAmount: TransactionAmount
    /// The cardholder's name, where Apple sends it.
    public let cardholderName: SensitiveText?
    /// Hexadecimal; the token requestor's name at American Express.
    public let deviceManufacturerIdentifier: String
    /// `3DSecure`, `EMV`, or what Apple may add.
    public let paymentDataType: String
    /// What proves the payment to the issuer.
    public let proof: PaymentProof
    /// One for each merchant of a multi-merchant request; else empty.
    public let authenticationResponses: [AuthenticationResponse]
    /// Names the merchant token (MPAN) of a recurring, deferred or automatic-reload request.
    public let merchantTokenIdentifier: String?
    /// What is known of the card behind the merchant token.
    public let merchantTokenMetadata: MerchantTokenMetadata?
    /// Fields that this version does not know, in the order sent.
    public let unknownFields: [UnknownField]

    /// What proves the payment to the issuer: the object `paymentData` inside the payment data.
    public struct PaymentProof: Sendable {
        /// 3DSecure: Base64.
        public let onlinePaymentCryptogram: SensitiveText?
        /// 3DSecure: where it is present it must be passed on, or the payment fails.
        public let eciIndicator: String?
        /// EMV: Base64.
        public let emvData: SensitiveText?
        /// EMV in RSA_v1 tokens: hexadecimal.
        public let encryptedPINData: SensitiveText?
        /// Fields that this version does not know, in the order sent.
        public let unknownFields: [UnknownField]
    }

    /// One merchant's share of a multi-merchant request.
    public struct AuthenticationResponse: Sendable {
        /// Whose share it is.
        public let merchantIdentifier: String
        /// Its cryptogram.
        public let authenticationData: SensitiveText
        /// Its amount.
        public let transactionAmount: TransactionAmount
        /// Fields that this version does not know, in the order sent.
        public let unknownFields: [UnknownField]
    }

    /// A field kept for the caller, because Apple adds some.
    public struct UnknownField: Sendable {
        /// The field's name.
        public let name: String
        /// Its value as JSON; it might be anything, so it is guarded like an account number.
        public let json: SensitiveText
    }
}
