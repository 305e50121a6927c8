import FoundationEssentials
import MerchantCore
import Vocabulary

/// `RegisterMerchantRequest`, with Apple's names.
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

/// `UnregisterMerchantRequest`.
struct UnregisterMerchantRequest: Encodable {
    let domainNames: [String]
    let partnerInternalMerchantIdentifier: String
    let reason: String
}

/// `MerchantDetails`; other fields are ignored.
struct MerchantDetails: Decodable {
    let domainNames: [String]
    let encryptTo: String
    /// The identifier of the request; some test servers omit it.
    let partnerInternalMerchantIdentifier: String?
    let partnerMerchantName: String
}

/// An error's body in either of Apple's shapes: `{statusMessage, statusCode: string}` of the gateway,
/// `{errorMessage, statusCode: integer}` of the newer APIs. Apple's reference specifies none.
struct ErrorDocument: Decodable {
    let statusMessage: String?
    let errorMessage: String?
    let statusCode: Code?

    /// A number, as a number or as text.
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
    /// Names in alphabetical order, as in Apple's reference; slashes without escapes.
    static func encode(_ document: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(document)
    }

    static func decode<Document: Decodable>(_ type: Document.Type, from data: Data) throws -> Document {
        try JSONDecoder().decode(type, from: data)
    }
}
