package import Foundation
package import Yams

/// `schema/openapi.yaml`, with which tests compare the servers.
package struct OpenAPIDocument {
    package struct Operation: Sendable {
        /// The permit in `x-sockets`, or `none` or `any`.
        package let permit: String
        /// `x-effect`; without it a `GET` reads and anything else writes.
        package let effect: String
        /// The names of the query parameters.
        package let query: Set<String>
        /// Whether the operation takes an `Idempotency-Key`.
        package let takesIdempotencyKey: Bool
        /// The error codes that a response of this listener can have.
        package let errorCodes: Set<String>
        /// The statuses of all responses, on any listener.
        package let statuses: Set<Int>
    }

    /// The error that the file contains no YAML document.
    private struct Empty: Error {}

    package static let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "schema/openapi.yaml")

    package let root: Node

    package init() throws {
        guard let root = try Yams.compose(yaml: String(contentsOf: Self.url, encoding: .utf8)) else { throw Empty() }
        self.root = root
    }

    /// Follows a `$ref`, if the node is one.
    package func resolved(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] ?? "missing" }
    }

    /// The operations of a socket by method and path, such as `GET /v1/health`.
    package func operations(of socket: String) -> [String: Operation] {
        var found: [String: Operation] = [:]
        for (path, item) in root["paths"]?.mapping ?? [:] {
            for (method, operation) in item.mapping ?? [:] where method.string != "parameters" {
                guard let permit = operation["x-sockets"]?[socket]?.string else { continue }
                let parameters = (operation["parameters"]?.sequence.map(Array.init) ?? []).map(resolved).filter {
                    $0["x-sockets"]?.sequence.map { $0.contains { $0.string == socket } } ?? true
                }
                let query = parameters.filter { $0["in"]?.string == "query" }
                found["\(method.string?.uppercased() ?? "") \(path.string ?? "")"] = Operation(
                    permit: permit,
                    effect: operation["x-effect"]?.string ?? (method.string == "get" ? "reads" : "writes"),
                    query: Set(query.compactMap { $0["name"]?.string }),
                    takesIdempotencyKey: parameters.contains { $0["name"]?.string == "Idempotency-Key" },
                    errorCodes: errorCodes(of: socket, operation), statuses: Self.statuses(operation))
            }
        }
        return found
    }

    /// The codes of every operation of the listener, and those of this operation.
    private func errorCodes(of listener: String, _ operation: Node) -> Set<String> {
        let all = root["x-error-codes"]?[listener]?.sequence.map(Array.init) ?? []
        let own = operation["x-error-codes"]?[listener]?.sequence.map(Array.init) ?? []
        return Set((all + own).compactMap(\.string))
    }

    private static func statuses(_ operation: Node) -> Set<Int> {
        Set(operation["responses"]?.mapping?.keys.compactMap { $0.string.flatMap { Int($0) } } ?? [])
    }

    /// A table in the schema of the error codes: `x-status` or `x-retry`, by code.
    package func table(ofCodes name: String) -> [String: Node] {
        let entries = root["components"]?["schemas"]?["ProblemCode"]?[name]?.mapping ?? [:]
        return Dictionary(entries.map { ($0.key.string ?? "", $0.value) }, uniquingKeysWith: { $1 })
    }
}
