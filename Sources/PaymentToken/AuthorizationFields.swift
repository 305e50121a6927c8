import FoundationEssentials
import Vocabulary

/// Payment data under the names of an authorization message. Guidance: acquirers differ.
///
/// Source: Apple, "Apple Pay platform integration guide", mapping of payment data.
public struct AuthorizationFields: Sendable {
    /// Whose names.
    public enum Network: String, Sendable, CaseIterable {
        /// PAN, expiration date, TAVV, CAVV or UCAF, ECI.
        case general
        /// PAN, expiration date, token blocks A and B, ECI, token requestor ID.
        case americanExpress
    }

    /// PAN.
    public let primaryAccountNumber: SensitiveText
    /// YYMMDD, as Apple sends it; most messages take its first four digits.
    public let expirationDate: String
    /// TAVV (Visa), UCAF (Mastercard) or CAVV, Base64; nil at American Express.
    public let cryptogram: SensitiveText?
    /// ECI; where it is present it must be passed on.
    public let electronicCommerceIndicator: String?
    /// American Express: the cryptogram, Base64.
    public let tokenBlockA: SensitiveText?
    /// American Express: zeros, as many bytes as block A has, Base64.
    public let tokenBlockB: SensitiveText?
    /// American Express: the device manufacturer's identifier.
    public let tokenRequestorID: String?
}

extension PaymentData {
    /// The same data under the names of an authorization message; nil where it is no 3DSecure payment.
    public func authorizationFields(for network: AuthorizationFields.Network) -> AuthorizationFields? {
        guard let cryptogram = proof.onlinePaymentCryptogram else { return nil }
        let isAmericanExpress = network == .americanExpress
        let zeros = Base64.decode(cryptogram.exposed).map {
            SensitiveText(Data(count: $0.count).base64EncodedString())
        }
        return AuthorizationFields(
            primaryAccountNumber: applicationPrimaryAccountNumber, expirationDate: applicationExpirationDate,
            cryptogram: isAmericanExpress ? nil : cryptogram, electronicCommerceIndicator: proof.eciIndicator,
            tokenBlockA: isAmericanExpress ? cryptogram : nil, tokenBlockB: isAmericanExpress ? zeros : nil,
            tokenRequestorID: isAmericanExpress ? deviceManufacturerIdentifier : nil)
    }
}
