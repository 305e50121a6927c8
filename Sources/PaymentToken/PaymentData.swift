/// The decrypted payment data of a token, with Apple's field names.
///
/// This type prints as `(redacted)`, so that payment data does not appear in a log by accident. To display payment
/// data, use ``maskedFields``.
///
/// Source: Apple, "Payment token format reference", keys of the decrypted payment data.
public struct PaymentData: Sendable {
    /// The device account number (DPAN) or merchant account number (MPAN) that replaces the card number: 8 to 19
    /// digits.
    public let applicationPrimaryAccountNumber: SensitiveText
    /// The expiration date of the account number: YYMMDD.
    public let applicationExpirationDate: String
    /// The numeric ISO 4217 code of the currency: three digits with leading zeros, such as `840` or `036`.
    public let currencyCode: String
    /// The amount in the currency's minor unit, as Apple sent it.
    public let transactionAmount: TransactionAmount
    /// The name of the cardholder; nil if Apple sent none.
    public let cardholderName: SensitiveText?
    /// The hexadecimal identifier of the device manufacturer, which American Express calls the token requestor ID.
    public let deviceManufacturerIdentifier: String
    /// The type of ``proof``: `3DSecure`, `EMV`, or a type that Apple adds later.
    public let paymentDataType: String
    /// The cryptogram and related data that authenticate the payment to the issuer.
    public let proof: PaymentProof
    /// For a multi-merchant payment request, one response for each merchant. Empty for other payment requests.
    public let authenticationResponses: [AuthenticationResponse]
    /// The identifier of the merchant token (MPAN) of a recurring, deferred or automatic-reload payment request; nil if
    /// Apple sent none.
    public let merchantTokenIdentifier: String?
    /// Information about the card behind the merchant token; nil if Apple sent none.
    public let merchantTokenMetadata: MerchantTokenMetadata?
    /// Fields that this library does not know, in the order sent.
    public let unknownFields: [UnknownField]

    /// The cryptogram and related data that authenticate the payment to the issuer: the object `paymentData` inside the
    /// decrypted payment data.
    public struct PaymentProof: Sendable {
        /// The cryptogram of a 3DSecure payment, in Base64.
        public let onlinePaymentCryptogram: SensitiveText?
        /// The electronic commerce indicator of a 3DSecure payment. If the indicator is present but not sent to the
        /// issuer, the payment fails.
        public let eciIndicator: String?
        /// The EMV record of an EMV payment, in Base64.
        public let emvData: SensitiveText?
        /// The encrypted PIN of an EMV payment in an RSA_v1 token, in hexadecimal.
        public let encryptedPINData: SensitiveText?
        /// Fields that this library does not know, in the order sent.
        public let unknownFields: [UnknownField]
    }

    /// The cryptogram and the amount for one merchant of a multi-merchant payment request.
    public struct AuthenticationResponse: Sendable {
        /// The identifier of the merchant.
        public let merchantIdentifier: String
        /// The cryptogram for this merchant.
        public let authenticationData: SensitiveText
        /// The amount for this merchant, in the currency's minor unit.
        public let transactionAmount: TransactionAmount
        /// Fields that this library does not know, in the order sent.
        public let unknownFields: [UnknownField]
    }

    /// A field that this library does not know. Apple adds fields over time.
    public struct UnknownField: Sendable {
        /// The name of the field.
        public let name: String
        /// The value as JSON text. It is treated as sensitive, because its meaning is not known.
        public let json: SensitiveText
    }
}
