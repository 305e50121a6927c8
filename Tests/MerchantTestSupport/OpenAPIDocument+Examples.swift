import Foundation
package import Yams

extension OpenAPIDocument {
    /// The error that the schema of an array has no schema for the items.
    private struct NoExample: Error {
        let schema: String
    }

    /// A value of the schema, for `JSONSerialization`.
    ///
    /// - Parameter requiredOnly: whether objects have only their required properties.
    package func example(of schema: Node, requiredOnly: Bool = false) throws -> Any {
        switch schema["$ref"]?.string?.split(separator: "/").last {
        case "MerchantIdentifier": return "merchant.com.example"
        case "PartnerInternalMerchantIdentifier": return "shop-1"
        case "DomainName": return "shop.example.com"
        case "PublicKeyHash": return "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls="
        case "SHA256Hex": return String(repeating: "ab", count: 32)
        case "AuditHead": return "1044:" + String(repeating: "ab", count: 32)
        case "Time": return "2026-11-21T04:53:15Z"
        case "AccessName": return "shop-portal"
        case "NodeName": return "host1"
        case "InvitationId": return "0123456789abcdef"
        case "MerchantTokenIdentifier": return "DSHRMC00002011616b5e5fd"
        case "MerchantTokenEventIdentifier": return "9a0b4b6e-3c1d-4f52-8a77-0c8d2f5e6b11"
        default: break
        }
        let schema = resolved(schema)
        if schema["$ref"] != nil { return try example(of: schema, requiredOnly: requiredOnly) }
        if let first = schema["enum"]?.sequence?.first?.string { return first }
        if let first = schema["anyOf"]?.sequence?.first { return try example(of: first, requiredOnly: requiredOnly) }
        switch schema["type"]?.string ?? schema["type"]?.sequence?.first?.string {
        case "string": return ""
        case "boolean": return true
        case "integer": return schema["minimum"]?.int ?? 1
        case "number": return 1
        case "array":
            guard let items = schema["items"] else { throw NoExample(schema: "\(schema)") }
            return [try example(of: items, requiredOnly: requiredOnly)]
        default:
            let required = Set(schema["required"]?.sequence?.compactMap(\.string) ?? [])
            var object: [String: Any] = [:]
            for (name, property) in schema["properties"]?.mapping ?? [:] {
                guard let name = name.string, !requiredOnly || required.contains(name) else { continue }
                object[name] = try example(of: property, requiredOnly: requiredOnly)
            }
            return object
        }
    }
}

/// A request with `null` for one field that the contract permits to be absent, but not to be null.
package struct NullFieldRequest: Sendable, CustomStringConvertible {
    package let method: String
    package let path: String
    /// The field with its path, such as `expected.currencyCode`.
    package let field: String
    /// All required fields, and the field that is null.
    package let body: String

    package var description: String { "\(method) \(path) \(body)" }
}

extension OpenAPIDocument {
    /// For each operation of a socket with a JSON body, a request for each optional field that is not nullable.
    ///
    /// - Parameter values: the value of each parameter in a path.
    package func nullFieldRequests(of socket: String, _ values: [String: String]) throws -> [NullFieldRequest] {
        var found: [NullFieldRequest] = []
        for (path, item) in root["paths"]?.mapping ?? [:] {
            let target = values.reduce(path.string ?? "") {
                $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value)
            }
            for (method, operation) in item.mapping ?? [:] where operation["x-sockets"]?[socket] != nil {
                let content = operation["requestBody"].map(resolved)?["content"]
                guard let schema = content?["application/json"]?["schema"].map(resolved) else { continue }
                let required = try example(of: schema, requiredOnly: true) as? [String: Any] ?? [:]
                for field in optionalFields(of: schema) {
                    let body = try JSONSerialization.data(withJSONObject: Self.setNull(field[...], in: required))
                    found.append(
                        NullFieldRequest(
                            method: method.string?.uppercased() ?? "", path: target,
                            field: field.joined(separator: "."), body: String(decoding: body, as: UTF8.self)))
                }
            }
        }
        return found
    }

    /// The paths of the optional fields that are not nullable, in the object and in its required members.
    private func optionalFields(of schema: Node) -> [[String]] {
        let required = Set(schema["required"]?.sequence?.compactMap(\.string) ?? [])
        var fields: [[String]] = []
        for (key, value) in schema["properties"]?.mapping ?? [:] {
            let (name, property) = (key.string ?? "", resolved(value))
            if required.contains(name) {
                fields += optionalFields(of: property).map { [name] + $0 }
            } else if property["type"]?.sequence?.contains(where: { $0.string == "null" }) != true {
                fields.append([name])
            }
        }
        return fields
    }

    private static func setNull(_ field: ArraySlice<String>, in object: [String: Any]) -> [String: Any] {
        guard let name = field.first else { return object }
        var object = object
        if field.count == 1 {
            object[name] = NSNull()
        } else {
            object[name] = setNull(field.dropFirst(), in: object[name] as? [String: Any] ?? [:])
        }
        return object
    }
}
