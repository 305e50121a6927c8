import MerchantCore
import Vocabulary

/// The body of a register call. The types and fields in this file have the names that Apple's reference specifies.
struct RegisterMerchantRequest: Encodable {
    let domainNames: [String]
    let encryptTo: String
    /// Omitted if the merchant has none.
    let merchantUrl: String?
    let partnerInternalMerchantIdentifier: String
    let partnerMerchantName: String

    init(_ registration: GatewayRegistration) {
        domainNames = registration.domainNames.map(\.rawValue)
        encryptTo = registration.encryptTo.rawValue
        merchantUrl = registration.merchantUrl
        partnerInternalMerchantIdentifier = registration.partnerInternalMerchantIdentifier.rawValue
        partnerMerchantName = registration.partnerMerchantName
    }
}

/// The body of an unregister call.
struct UnregisterMerchantRequest: Encodable {
    let domainNames: [String]
    let partnerInternalMerchantIdentifier: String
    let reason: String
}

/// The body of the response with a merchant's details. Fields that are not listed here are ignored.
struct MerchantDetails: Decodable {
    let domainNames: [String]
    /// The SHA-256 hash, in hexadecimal, of the identifier that was registered as `encryptTo`.
    let encryptTo: String
    /// The identifier that the request asked for. Some test servers omit it.
    let partnerInternalMerchantIdentifier: String?
    let partnerMerchantName: String
}
