package import HTTPKit
package import MerchantCore
package import Vocabulary

/// A value that requests carry as text, in a path, a query or a body.
package protocol RequestField {
    /// - Parameter field: the name of the field, for the error.
    /// - Throws: `malformed`, naming the field and what it must contain.
    init(_ text: String, named field: String) throws(MerchantError)
}

extension QueryParameters {
    /// - Returns: nil where the query does not have the parameter.
    /// - Throws: `malformed`, naming the parameter and what it must contain.
    package func value<Value: RequestField>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(MerchantError) -> Value? {
        guard let text = self[name] else { return nil }
        return try Value(text, named: name)
    }

    /// The same for an enumeration.
    package func value<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(MerchantError) -> Value? {
        guard let text = self[name] else { return nil }
        return try Value(text, named: name)
    }

    /// A parameter that is `true` or `false`; false where the query does not have it.
    package func flag(_ name: String) throws(MerchantError) -> Bool {
        switch self[name] {
        case nil, "false": false
        case "true": true
        default: throw MerchantError(.malformed, "'\(name)' is neither true nor false")
        }
    }

    /// A whole number in a range.
    ///
    /// - Parameter expectation: completes "is not acceptable, expected …".
    package func integer(
        _ name: String, in range: ClosedRange<Int>, expectation: String
    ) throws(MerchantError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw MerchantError(.malformed, "'\(name)' is not acceptable, expected \(expectation)")
        }
        return number
    }
}

extension MerchantIdentifier: RequestField {
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let identifier = MerchantIdentifier(text) else {
            throw MerchantError(.malformed, "'\(field)' is not a merchant identifier, \(Self.expectation)")
        }
        self = identifier
    }
}

extension PublicKeyHash: RequestField {
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let hash = PublicKeyHash(anySpelling: text) else {
            throw MerchantError(
                .malformed,
                "'\(field)' is not a publicKeyHash, expected 44 characters of Base64, 43 of Base64url or 64 hexadecimal digits"
            )
        }
        self = hash
    }
}

extension PartnerInternalMerchantIdentifier: RequestField {
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let partner = PartnerInternalMerchantIdentifier(text) else {
            throw MerchantError(
                .malformed,
                "'\(field)' is '\(text.prefix(64))' of \(text.utf8.count) bytes, \(Self.expectation)")
        }
        self = partner
    }
}

extension DomainName: RequestField {
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let name = DomainName(anySpelling: text) else {
            throw MerchantError(.malformed, "'\(field)' has '\(text.prefix(300))', \(Self.expectation)")
        }
        self = name
    }
}

extension Timestamp: RequestField {
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let time = Timestamp(rfc3339: text) else {
            throw MerchantError(.malformed, "'\(field)' is not a time, expected RFC 3339 such as 2026-11-21T04:53:15Z")
        }
        self = time
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// - Throws: `malformed`, naming the field and the values that it may have.
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let value = Self(rawValue: text) else {
            let expected = Self.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw MerchantError(.malformed, "'\(field)' is '\(text.prefix(64))', expected one of \(expected)")
        }
        self = value
    }
}
