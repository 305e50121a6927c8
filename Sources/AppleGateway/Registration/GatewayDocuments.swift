import FoundationEssentials
import MerchantCore
import Vocabulary

/// The body of a register call. In this file, types and fields that Apple's reference specifies have the same names
/// there.
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

/// The body of an error response. Apple's reference does not specify it.
///
/// The gateway sends `statusMessage`, and `statusCode` as a string. Apple's newer APIs send `errorMessage`, and
/// `statusCode` as an integer.
struct ErrorDocument: Decodable {
    let statusMessage: String?
    let errorMessage: String?
    let statusCode: Code?

    /// A number that the JSON contains as a number or as a string.
    struct Code: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try (try? container.decode(String.self)) ?? String(container.decode(Int.self))
        }
    }

    var message: String? { statusMessage ?? errorMessage }
}

enum GatewayJSON {
    /// Writes fields in alphabetical order, as Apple's reference does, and does not escape slashes.
    static func encode(_ document: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(document)
    }

    static func decode<Document: Decodable>(_ type: Document.Type, from data: Data) throws -> Document {
        try JSONDecoder().decode(type, from: data)
    }
}
