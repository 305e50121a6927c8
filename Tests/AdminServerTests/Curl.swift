import Foundation
import MerchantTestSupport
import Testing

/// The response that curl received.
struct Reply: Sendable {
    let status: Int
    /// The values by the lower-case names of the header fields.
    let headers: [String: String]
    let body: Data

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> [String: any Sendable] {
        try JSONSerialization.jsonObject(with: body) as? [String: any Sendable] ?? [:]
    }

    func string(_ name: String) -> String? { (try? json())?[name] as? String }
}

extension TestServer {
    private static let documented = Result { try DocumentedResponses(of: "admin") }

    /// One request by the real curl, on a connection of its own. Fails the test unless the contract lists the response.
    func curl(
        _ method: String, _ path: String, _ body: Data? = nil, headers: [String] = []
    ) async throws -> Reply {
        var arguments = [
            "--silent", "--show-error", "--max-time", "20", "--unix-socket", socket, "--path-as-is", "--globoff",
            "--output", "-",
        ]
        arguments += method == "HEAD" ? ["--head"] : ["--request", method, "--dump-header", "-"]
        for header in headers { arguments += ["--header", header] }
        if body != nil { arguments += ["--data-binary", "@-"] }
        let output = try await Self.run("curl", arguments + ["http://localhost\(path)"], input: body ?? Data())
        let reply = try Reply(headerAndBody: output)
        let difference = try Self.documented.get().difference(method, path, status: reply.status, body: reply.body)
        #expect(difference == nil)
        return reply
    }

    func curl(_ method: String, _ path: String, _ body: String, headers: [String] = []) async throws -> Reply {
        try await curl(method, path, Data(body.utf8), headers: headers)
    }

    /// Waits on its own thread, because the server needs the threads of the concurrency pool.
    static func run(_ program: String, _ arguments: [String], input: Data = Data()) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { Data(try ChildProcess.output(of: [program] + arguments, input: input)) })
            }
        }
    }
}

extension Reply {
    struct NotHTTP: Error { let found: String }

    /// Parses one response and skips a 100 Continue before it.
    init(headerAndBody bytes: Data) throws {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else {
            throw NotHTTP(found: String(decoding: bytes, as: UTF8.self))
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw NotHTTP(found: lines[0])
        }
        let body = Data(bytes[end.upperBound...])
        guard status != 100 else {
            try self.init(headerAndBody: body)
            return
        }
        let headers = Dictionary(
            lines.dropFirst().map { line in
                let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                return (parts[0].lowercased(), parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { $0 + ", " + $1 })
        self.init(status: status, headers: headers, body: body)
    }
}
