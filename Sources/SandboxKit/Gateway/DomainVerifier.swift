import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOSSL

/// Verifies domains as Apple does: downloads the domain verification file from the domain and checks its content.
package struct DomainVerifier: Sendable {
    private static let path = "/.well-known/apple-developer-merchantid-domain-association"

    /// The addresses to use instead of DNS, by domain name.
    private let addresses: [String: (host: String, port: Int)]
    /// The content of the expected file; nil if any file that is not empty is accepted.
    private let file: [UInt8]?
    private let root: NIOSSLCertificate

    /// - Parameters:
    ///   - resolving: the addresses to use instead of DNS, as `NAME=ADDRESS:PORT`.
    ///   - file: the content of the expected file; nil to accept any file that is not empty.
    ///   - root: the sandbox's root in PEM, trusted in addition to the system's roots.
    package init(resolving entries: [String], file: [UInt8]?, root: String) throws {
        var addresses: [String: (host: String, port: Int)] = [:]
        for entry in entries {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let colon = parts[1].lastIndex(of: ":"),
                let port = Int(parts[1][parts[1].index(after: colon)...]), (1...65_535).contains(port)
            else { throw SandboxError("'\(entry)' is not the address of a domain, expected NAME=ADDRESS:PORT") }
            addresses[parts[0].lowercased()] = (String(parts[1][..<colon]), port)
        }
        guard let certificate = try NIOSSLCertificate.fromPEMBytes(Array(root.utf8)).first else {
            throw SandboxError("the sandbox's root certificate is not valid PEM")
        }
        self.addresses = addresses
        self.file = file
        self.root = certificate
    }

    /// Returns why a domain is rejected; nil if it is accepted.
    func rejectionReason(for domain: String) async -> String? {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.certificates([root])]
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5)))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        let address = addresses[domain.lowercased()]
        if let address { configuration.dnsOverride = [domain: address.host] }
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        let rejectionReason: String?
        do {
            let port = address.map { ":\($0.port)" } ?? ""
            let response = try await client.execute(
                HTTPClientRequest(url: "https://\(domain)\(port)\(Self.path)"), timeout: .seconds(10))
            let found = try await response.body.collect(upTo: 1 << 20)
            if response.status != .ok {
                rejectionReason = "the response has status \(response.status.code)"
            } else if let file {
                rejectionReason =
                    found.readableBytesView.elementsEqual(file)
                    ? nil : "the content of the file is not the expected content"
            } else {
                rejectionReason = found.readableBytes > 0 ? nil : "the file is empty"
            }
        } catch {
            rejectionReason = "the file cannot be downloaded: \(error)"
        }
        try? await client.shutdown()
        return rejectionReason
    }
}
