import FoundationEssentials
import Vocabulary

/// Payment data under the field names of a card network's authorization message.
///
/// Apple's mapping of the names is only a guide, because acquirers use different names.
///
/// Source: Apple, "Apple Pay platform integration guide", mapping of payment data.
public struct AuthorizationFields: Sendable {
    /// The card network whose field names apply.
    public enum Network: String, Sendable, CaseIterable {
        /// Every network except American Express. The fields are PAN, expiration date, cryptogram and ECI.
        case general
        /// American Express. The fields are PAN, expiration date, token blocks A and B, ECI and token requestor ID.
        case americanExpress
    }

    /// The primary account number (PAN).
    public let primaryAccountNumber: SensitiveText
    /// The expiration date as YYMMDD. Most authorization messages take YYMM, the first four digits.
    public let expirationDate: String
    /// The cryptogram in Base64: TAVV (Visa), UCAF (Mastercard) or CAVV; nil for American Express.
    public let cryptogram: SensitiveText?
    /// The electronic commerce indicator (ECI). If it is not nil, send it in the authorization message.
    public let electronicCommerceIndicator: String?
    /// The cryptogram in Base64, for American Express; nil for other networks.
    public let tokenBlockA: SensitiveText?
    /// For American Express, zero bytes in Base64: as many as the decoded token block A has. Nil for other networks, or
    /// if token block A is not Base64.
    public let tokenBlockB: SensitiveText?
    /// The device manufacturer identifier, for American Express; nil for other networks.
    public let tokenRequestorID: String?
}

extension PaymentData {
    /// Returns the data under the field names of an authorization message; nil if there is no
    /// `onlinePaymentCryptogram`, as in EMV payments.
    public func authorizationFields(for network: AuthorizationFields.Network) -> AuthorizationFields? {
        guard let cryptogram = proof.onlinePaymentCryptogram else { return nil }
        let isAmericanExpress = network == .americanExpress
        let zeroBlock = Base64.decode(cryptogram.unredacted).map {
            SensitiveText(Data(count: $0.count).base64EncodedString())
        }
        return AuthorizationFields(
            primaryAccountNumber: applicationPrimaryAccountNumber, expirationDate: applicationExpirationDate,
            cryptogram: isAmericanExpress ? nil : cryptogram, electronicCommerceIndicator: proof.eciIndicator,
            tokenBlockA: isAmericanExpress ? cryptogram : nil, tokenBlockB: isAmericanExpress ? zeroBlock : nil,
            tokenRequestorID: isAmericanExpress ? deviceManufacturerIdentifier : nil)
    }
}
