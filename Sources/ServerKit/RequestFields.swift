package import HTTPKit
package import MerchantCore
package import Vocabulary

extension TextValue {
    /// Converts a text from a request's path, query or body.
    ///
    /// - Parameter field: the name of the field that contains the text, for the error.
    /// - Throws: `malformed`, naming the field and what it must contain.
    package init(_ text: String, named field: String) throws(MerchantError) {
        guard let value = Self(text: text) else {
            throw MerchantError(.malformed, "'\(field)' \(Self.refusal(of: text))")
        }
        self = value
    }
}

extension QueryParameters {
    /// Reads a parameter and converts its text to `Value`.
    ///
    /// - Returns: nil if the query does not have the parameter.
    /// - Throws: `malformed`, naming the parameter and what it must contain.
    package func value<Value: TextValue>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(MerchantError) -> Value? {
        guard let text = self[name] else { return nil }
        return try Value(text, named: name)
    }

    /// Reads a parameter that is `true` or `false`. The value is false if the query does not have the parameter.
    package func flag(_ name: String) throws(MerchantError) -> Bool {
        switch self[name] {
        case nil, "false": false
        case "true": true
        default: throw MerchantError(.malformed, "'\(name)' is neither true nor false")
        }
    }

    /// Reads a parameter that is an integer.
    ///
    /// - Parameter expectation: the end of the error message "is invalid, expected …", such as `1 to 1000`.
    /// - Returns: nil if the query does not have the parameter.
    package func integer(
        _ name: String, in range: ClosedRange<Int>, expectation: String
    ) throws(MerchantError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw MerchantError(.malformed, "'\(name)' is invalid, expected \(expectation)")
        }
        return number
    }
}
