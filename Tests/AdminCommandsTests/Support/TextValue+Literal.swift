package import Vocabulary

extension TextValue where Self: ExpressibleByStringLiteral, StringLiteralType == String {
    package init(stringLiteral text: String) {
        guard let value = Self(text: text) else { preconditionFailure("'\(text)' \(Self.refusal(of: text))") }
        self = value
    }
}

extension DomainName: ExpressibleByStringLiteral {}
extension MerchantIdentifier: ExpressibleByStringLiteral {}
extension PartnerInternalMerchantIdentifier: ExpressibleByStringLiteral {}
extension PublicKeyHash: ExpressibleByStringLiteral {}
extension Timestamp: ExpressibleByStringLiteral {}
