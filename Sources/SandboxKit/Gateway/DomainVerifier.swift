import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL

/// Verifies domains as Apple does: by fetching the association file from them.
package struct DomainVerifier: Sendable {
    private static let path = "/.well-known/apple-developer-merchantid-domain-association"

    /// By name, `ADDRESS:PORT` to ask in place of what the name resolves to.
    private let addresses: [String: (host: String, port: Int)]
    /// What must be served; nil: anything that is not empty.
    private let file: [UInt8]?
    private let root: NIOSSLCertificate

    /// - Parameters:
    ///   - resolving: `NAME=ADDRESS:PORT`.
    ///   - root: PEM of the sandbox's root, trusted beside the system's.
    package init(resolving entries: [String], file: [UInt8]?, root: String) throws {
        var addresses: [String: (host: String, port: Int)] = [:]
        for entry in entries {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let colon = parts[1].lastIndex(of: ":"),
                let port = Int(parts[1][parts[1].index(after: colon)...]), (1...65_535).contains(port)
            else { throw SandboxFault("found '\(entry)', expected NAME=ADDRESS:PORT") }
            addresses[parts[0].lowercased()] = (String(parts[1][..<colon]), port)
        }
        guard let certificate = try NIOSSLCertificate.fromPEMBytes(Array(root.utf8)).first else {
            throw SandboxFault("found no certificate, expected the sandbox's root")
        }
        self.addresses = addresses
        self.file = file
        self.root = certificate
    }

    /// - Returns: why Apple would not accept the domain, or nil.
    func objection(to domain: String) async -> String? {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.certificates([root])]
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5)))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        let named = addresses[domain.lowercased()]
        if let named { configuration.dnsOverride = [domain: named.host] }
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        let objection: String?
        do {
            let port = named.map { ":\($0.port)" } ?? ""
            let response = try await client.execute(
                HTTPClientRequest(url: "https://\(domain)\(port)\(Self.path)"), timeout: .seconds(10))
            let found = try await response.body.collect(upTo: 1 << 20)
            if response.status != .ok {
                objection = "status \(response.status.code)"
            } else if let file {
                objection = found.readableBytesView.elementsEqual(file) ? nil : "another file"
            } else {
                objection = found.readableBytes > 0 ? nil : "an empty file"
            }
        } catch {
            objection = "not reachable: \(error)"
        }
        try? await client.shutdown()
        return objection
    }
}
