package import Foundation

/// The statuses and error codes that `schema/openapi.yaml` lists for the operations of one listener. Servers in tests
/// compare each of their responses with them.
package struct DocumentedResponses: Sendable {
    private let operations: [String: OpenAPIDocument.Operation]

    /// - Parameter listener: `admin`, `decryptor`, `issuer` or `portal`.
    package init(of listener: String) throws { operations = try OpenAPIDocument().operations(of: listener) }

    /// How a response differs from the document.
    ///
    /// - Parameters:
    ///   - target: the request's target, such as `/v1/keys?state=current`.
    ///   - body: the response's body. If it is a problem document, its code is compared too.
    /// - Returns: nil if the document permits the response, or has no operation with the target's path.
    package func difference(_ method: String, _ target: String, status: Int, body: Data) -> String? {
        let path = target.prefix { $0 != "?" }
        let matching = operations.keys.filter { Self.matches($0, path) }
        guard !matching.isEmpty else { return nil }
        let code = (try? JSONDecoder().decode(ProblemMembers.self, from: body))?.code
        let documented = method == "HEAD" ? "GET" : method
        // A path without a parameter comes before one with a parameter.
        guard
            let name = matching.sorted(by: { !$0.contains("{") && $1.contains("{") })
                .first(where: { $0.hasPrefix("\(documented) ") }), let operation = operations[name]
        else {
            // The caller may be refused before the method is.
            return [401, 403, 405, 429, 431].contains(status)
                ? nil : "\(method) \(path): \(status), expected 405: the document has no such method"
        }
        guard status >= 200 else { return nil }
        guard operation.statuses.contains(status) else { return "\(name): \(status) is not documented" }
        guard let code, !operation.errorCodes.contains(code) else { return nil }
        return "\(name): \(status) \(code) is not documented"
    }

    private struct ProblemMembers: Decodable {
        let type: String
        let code: String
    }

    /// Whether the path matches the template of an operation, such as `GET /v1/keys/{publicKeyHash}`.
    private static func matches(_ operation: String, _ path: Substring) -> Bool {
        let template = operation.split(separator: " ")[1].split(separator: "/", omittingEmptySubsequences: false)
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return template.count == segments.count
            && zip(template, segments).allSatisfy { $0.hasPrefix("{") ? !$1.isEmpty : $0 == $1 }
    }
}
