import Crypto
import Foundation
import FoundationNetworking
package import MerchantCore
import NameResolution
package import Vocabulary

/// Does what Apple does before it accepts a domain, and says what Apple would not.
///
/// The name is resolved once, its addresses are judged, and the connection goes to one that was judged and to no other: a name
/// that resolves differently a moment later changes nothing.
package struct DomainCheck: DomainChecker {
    package struct Settings: Sendable {
        /// For tests and for platforms whose merchants' sites are inside.
        package var allowsInternalAddresses = false
        /// Who may certify the domain.
        package var roots = TrustRoots.system
        /// Bounds the whole check.
        package var timeout: Duration = .seconds(15)
        /// The largest file that is read, in bytes. Apple's have about 9,000.
        package var largestFile = 1 << 20
        /// By name, the address (and port) to ask in place of what the name resolves to.
        package var addresses: [String: Address] = [:]

        package init() {}
    }

    /// `192.0.2.1:8443`, `[2001:db8::1]`; the port is 443 unless it is named.
    package struct Address: Hashable, Sendable {
        let host: String
        let port: Int

        /// - Returns: nil for a text that is no address with or without a port.
        package init?(_ text: String) {
            guard let parts = URLComponents(string: "https://\(text)"), let host = parts.host,
                parts.path.isEmpty, parts.query == nil, parts.user == nil
            else { return nil }
            let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            guard NetworkAddress(bare) != nil else { return nil }
            self.host = bare
            port = parts.port ?? 443
        }
    }

    /// Source: Apple, "Preparing merchant domains for verification".
    static let path = "/.well-known/apple-developer-merchantid-domain-association"

    private let settings: Settings

    package init(settings: Settings) { self.settings = settings }

    package func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport {
        let named = settings.addresses[domain.rawValue]
        let port = named.map { $0.port == 443 ? "" : ":\($0.port)" } ?? ""
        let url = "https://\(domain)\(port)\(Self.path)"
        let deadline = ContinuousClock.now + settings.timeout
        let (address, finding) = await find(domain, named, url, expecting: file, until: deadline)
        return DomainCheckReport(domain: domain, url: url, address: address, finding: finding)
    }

    private func find(
        _ domain: DomainName, _ named: Address?, _ url: String, expecting file: [UInt8],
        until deadline: ContinuousClock.Instant
    ) async -> (address: String?, finding: DomainCheckFinding) {
        let found: [NetworkAddress]
        do {
            found = try await addresses(of: domain, named, until: deadline)
        } catch NameResolutionError.notResolved(let why) {
            return (nil, .nameNotResolved(why))
        } catch {
            return (nil, timedOut)
        }
        guard let first = found.first else { return (nil, .nameNotResolved("it has no address")) }
        let usable = found.filter { settings.allowsInternalAddresses || !$0.isInternal }
        guard !usable.isEmpty else {
            return (nil, .addressRefused(address: first.description, kind: first.objection ?? "internal"))
        }
        // Only one that cannot be reached at all gives way to the next, as in every client.
        var last: (String?, DomainCheckFinding) = (nil, timedOut)
        for address in usable.prefix(4) {
            let left = deadline - .now
            guard left > .zero else { return (address.description, timedOut) }
            last = (address.description, await ask(address, domain, url, expecting: file, within: left))
            switch last.1 {
            case .connectionRefused, .connectionFailed: continue
            default: return last
            }
        }
        return last
    }

    private func ask(
        _ address: NetworkAddress, _ domain: DomainName, _ url: String, expecting file: [UInt8], within left: Duration
    ) async -> DomainCheckFinding {
        guard let url = URL(string: url) else { return .protocolViolation("the URL cannot be made") }
        var limits = SecureTransport.Limits()
        limits.answer = settings.largestFile
        let transport = SecureTransport(
            roots: settings.roots, connectTimeout: left, limits: limits,
            addresses: [domain.rawValue: address.description])
        var request = URLRequest(url: url)
        request.timeoutInterval = max(0.001, left / .seconds(1))
        request.setValue("merchantkeyd domain check", forHTTPHeaderField: "User-Agent")
        let finding: DomainCheckFinding
        do throws(TransportFailure) {
            let (data, response) = try await transport.data(for: request)
            finding = judge(data, response, expecting: file)
        } catch {
            finding = self.finding(error, address)
        }
        await transport.shutdown()
        return finding
    }

    private func judge(_ data: Data, _ response: HTTPURLResponse, expecting file: [UInt8]) -> DomainCheckFinding {
        switch response.statusCode {
        case 200: return data.elementsEqual(file) ? .passed : .wrongContent(.init(found: Array(data), expected: file))
        case 300...399:
            let location = response.value(forHTTPHeaderField: "Location")
            return .redirected(status: response.statusCode, location: printable(location ?? "nowhere"))
        default: return .wrongStatus(response.statusCode)
        }
    }

    private func finding(_ failure: TransportFailure, _ address: NetworkAddress) -> DomainCheckFinding {
        switch failure {
        case .serverUntrusted(let server):
            switch server.fault {
            case .expired: .certificateExpired(server.detail)
            case .notYetValid: .certificateNotYetValid(server.detail)
            case .otherName: .certificateForOtherName(server.detail)
            case .untrusted: .certificateUntrusted(server.detail)
            }
        case .unreachable(let why) where why.hasPrefix("Connection refused"): .connectionRefused(address.description)
        case .unreachable(let why) where why.contains("in time"): timedOut
        case .unreachable(let why) where why.hasPrefix("TLS failed: "): .tlsFailed(String(why.dropFirst(12)))
        case .unreachable(let why), .answerLost(let why), .identityUnusable(let why): .connectionFailed(why)
        case .timedOut, .cancelled: timedOut
        case .answerTooLarge(let limit): .tooLarge(limit: limit)
        case .clientCertificateRefused(let why): .tlsFailed(why)
        case .notHTTP(let why): .protocolViolation(why)
        case .requestTooLarge: .protocolViolation("the request was too large")
        }
    }

    private var timedOut: DomainCheckFinding { .timedOut(seconds: max(1, Int(settings.timeout.components.seconds))) }

    private func addresses(
        of domain: DomainName, _ named: Address?, until deadline: ContinuousClock.Instant
    ) async throws -> [NetworkAddress] {
        if let named { return NetworkAddress(named.host).map { [$0] } ?? [] }
        return try await NameResolution.addresses(of: domain.rawValue, within: deadline - .now)
            .compactMap(NetworkAddress.init(bytes:))
    }
}

extension DomainCheckFinding.ContentDifference {
    init(found: [UInt8], expected: [UInt8]) {
        func digest(_ bytes: [UInt8]) -> String { Hex.encode(Array(SHA256.hash(data: bytes))) }
        self.init(
            foundSize: found.count, foundDigest: digest(found), expectedSize: expected.count,
            expectedDigest: digest(expected), hint: Self.hint(found, expected))
    }

    private static func hint(_ found: [UInt8], _ expected: [UInt8]) -> String? {
        func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
            let end = bytes.lastIndex { $0 > 0x20 } ?? bytes.startIndex - 1
            return bytes[...end].drop { $0 <= 0x20 }
        }
        if found.isEmpty { return "the answer is empty" }
        if trimmed(found) == trimmed(expected) {
            return "only white space at the ends differs: serve the file byte for byte"
        }
        if found.starts(with: [0xEF, 0xBB, 0xBF]) { return "it begins with a byte order mark" }
        if trimmed(found).first == UInt8(ascii: "<") { return "it looks like a web page" }
        return nil
    }
}
