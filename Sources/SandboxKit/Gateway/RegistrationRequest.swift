import FoundationEssentials
import Vocabulary

/// The body of a registerMerchant or unregisterMerchant request.
///
/// The initializer checks the types of all fields, and the values of partnerInternalMerchantIdentifier and domainNames.
/// ``merchant(registeredBy:)`` and ``requireReason()`` check the fields that only one of the two requests requires. The
/// value of merchantUrl is not checked.
struct RegistrationRequest {
    private struct Fields: Decodable {
        let partnerInternalMerchantIdentifier: String
        let domainNames: [String]
        let partnerMerchantName: String?
        let encryptTo: String?
        let merchantUrl: String?
        let reason: String?
    }

    private let fields: Fields

    var identifier: String { fields.partnerInternalMerchantIdentifier }
    var domainNames: [String] { fields.domainNames }

    /// - Throws: ``SandboxError``, which says what is invalid.
    init(_ body: [UInt8]) throws(SandboxError) {
        do { fields = try JSONDecoder().decode(Fields.self, from: Data(body)) } catch {
            throw SandboxError(
                "the body is not a JSON object with fields of the documented types: \(Self.description(of: error))")
        }
        guard (3...1024).contains(identifier.utf8.count), identifier.utf8.allSatisfy(Self.isAllowed) else {
            throw SandboxError(
                "partnerInternalMerchantIdentifier must have 3 to 1024 characters, each one of "
                    + "a-z A-Z 0-9 ~ - _ + & @ $ ! | , . ;")
        }
        guard (1...RegistrationStore.maximumDomainCount).contains(domainNames.count),
            Set(domainNames).count == domainNames.count
        else {
            throw SandboxError(
                "domainNames has \(domainNames.count.counted("name")), expected 1 to 99 names without repetition")
        }
        for name in domainNames where !Self.isDomain(name) {
            throw SandboxError("domainNames contains a string that is not a domain name")
        }
    }

    /// - Parameter client: the platform that registers the merchant.
    /// - Throws: ``SandboxError`` if a field that only registerMerchant requires is missing or invalid.
    func merchant(registeredBy client: GatewayClient) throws(SandboxError) -> RegisteredMerchant {
        RegisteredMerchant(
            partnerInternalMerchantIdentifier: identifier,
            partnerMerchantName: try Self.text("partnerMerchantName", fields.partnerMerchantName),
            encryptTo: try Self.text("encryptTo", fields.encryptTo), domainNames: domainNames,
            merchantUrl: fields.merchantUrl, registeredBy: client.merchantHash.hex)
    }

    /// - Throws: ``SandboxError`` if the reason, which only unregisterMerchant requires, is missing or invalid.
    func requireReason() throws(SandboxError) { _ = try Self.text("reason", fields.reason) }

    private static func text(_ name: String, _ value: String?) throws(SandboxError) -> String {
        guard let value, (1...1024).contains(value.count) else {
            throw SandboxError("\(name) is required and must have 1 to 1024 characters")
        }
        return value
    }

    static func description(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "\(key.stringValue) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            "\(context.codingPath.first?.stringValue ?? "the body") has the wrong type or is null"
        default: "it cannot be parsed"
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "~-_+&@$!|,.;".utf8.contains(byte)
    }

    static func isDomain(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 253 && labels.count >= 2
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { byte in
                        // `| 0x20` makes an upper-case letter lower case.
                        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                    }
            }
    }
}
