import Crypto
import MerchantCore
import OutboundHTTP
import Vocabulary

extension DomainCheck {
    var timedOut: DomainCheckFinding { .timedOut(seconds: max(1, Int(settings.timeout.components.seconds))) }

    func finding(_ error: HostResolutionError) -> DomainCheckFinding {
        switch error {
        case .notResolved(let reason): .nameNotResolved(reason)
        case .noAddress: .nameNotResolved("it has no address")
        case .internalAddress(let address):
            .addressRefused(address: address.description, kind: address.internalKind ?? "internal")
        case .timedOut: timedOut
        }
    }

    func finding(_ failure: OutboundFailure, _ address: NetworkAddress) -> DomainCheckFinding {
        switch failure {
        case .serverUntrusted(let server):
            switch server.reason {
            case .expired: .certificateExpired(server.detail)
            case .notYetValid: .certificateNotYetValid(server.detail)
            case .otherName: .certificateForOtherName(server.detail)
            case .untrusted: .certificateUntrusted(server.detail)
            }
        case .unreachable(let reason):
            switch reason {
            case .connectionRefused: .connectionRefused(address.description)
            case .connectTimeout, .tlsHandshakeTimeout: timedOut
            case .tlsFailed(let why): .tlsFailed(why)
            case .other(let why): .connectionFailed(why)
            }
        case .responseLost(let why), .identityUnusable(let why): .connectionFailed(why)
        // A cancelled check has no finding of its own, so it counts as timed out.
        case .timedOut, .cancelled: timedOut
        case .responseTooLarge(let limit): .tooLarge(limit: limit)
        case .clientCertificateRefused(let why): .tlsFailed(why)
        case .notHTTP(let why): .protocolViolation(why)
        case .requestTooLarge: .protocolViolation("the request was too large")
        }
    }

    static func finding(_ response: OutboundResponse, expecting file: [UInt8]) -> DomainCheckFinding {
        switch response.status {
        case 200: response.body == file ? .passed : .wrongContent(.init(found: response.body, expected: file))
        case 300...399:
            .redirected(
                status: response.status, location: (response.header("Location") ?? "nowhere").printableASCII())
        default: .wrongStatus(response.status)
        }
    }
}

extension DomainCheckFinding.ContentDifference {
    fileprivate init(found: [UInt8], expected: [UInt8]) {
        func digest(_ bytes: [UInt8]) -> String { Hex.encode(Array(SHA256.hash(data: bytes))) }
        self.init(
            foundSize: found.count, foundDigest: digest(found), expectedSize: expected.count,
            expectedDigest: digest(expected), hint: Self.hint(found, expected))
    }

    /// The likely cause of the difference; nil if unknown.
    private static func hint(_ found: [UInt8], _ expected: [UInt8]) -> String? {
        func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
            // If all bytes are white space, the index before the start makes the slice below empty.
            let end = bytes.lastIndex { $0 > 0x20 } ?? bytes.startIndex - 1
            return bytes[...end].drop { $0 <= 0x20 }
        }
        if found.isEmpty { return "the response is empty" }
        if trimmed(found) == trimmed(expected) {
            return "only white space at the start or end differs: serve the file byte for byte"
        }
        if found.starts(with: [0xEF, 0xBB, 0xBF]) { return "the response begins with a byte order mark" }
        if trimmed(found).first == UInt8(ascii: "<") { return "the response looks like a web page" }
        return nil
    }
}
