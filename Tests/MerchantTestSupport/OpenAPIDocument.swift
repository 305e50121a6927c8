package import Foundation
package import Yams

/// `schema/openapi.yaml`, with which tests compare the servers.
package struct OpenAPIDocument {
    package struct Operation {
        /// The permit in `x-sockets`, or `none` or `any`.
        package let permit: String
        /// `x-effect`; without it a `GET` reads and anything else writes.
        package let effect: String
        /// The names of the query parameters.
        package let query: Set<String>
    }

    /// The error that the file is not a YAML document.
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
                    $0["in"]?.string == "query"
                        && ($0["x-sockets"]?.sequence.map { $0.contains { $0.string == socket } } ?? true)
                }
                found["\(method.string?.uppercased() ?? "") \(path.string ?? "")"] = Operation(
                    permit: permit,
                    effect: operation["x-effect"]?.string ?? (method.string == "get" ? "reads" : "writes"),
                    query: Set(parameters.compactMap { $0["name"]?.string }))
            }
        }
        return found
    }
}
