import HTTPKit
import NIOHTTP1
import Testing

@Suite struct RequestHeadRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let version: HTTPVersion
        let headers: [(String, String)]
        let fault: HTTPFault?
        let method: HTTPMethod

        init(
            _ name: String, _ headers: [(String, String)], _ fault: HTTPFault?, version: HTTPVersion = .http1_1,
            method: HTTPMethod = .POST
        ) {
            self.name = name
            self.version = version
            self.headers = headers
            self.fault = fault
            self.method = method
        }

        var testDescription: String { name }
    }

    static let host = ("Host", "localhost")

    static let cases: [Case] = [
        Case("one Host", [host], nil),
        Case("Host with a port", [("Host", "localhost:8080")], nil),
        Case("Host of an IPv6 address", [("host", "[::1]:80")], nil),
        Case("an empty Host", [("Host", "")], nil),
        Case("no Host", [], .hostMissing),
        Case("no Host in HTTP/1.0", [], nil, version: .http1_0),
        Case("Host twice", [host, ("HOST", "localhost")], .hostRepeated),
        Case("Host twice in HTTP/1.0", [host, host], .hostRepeated, version: .http1_0),
        Case("Host with a path", [("Host", "local/host")], .hostInvalid),
        Case("Host with a user", [("Host", "user@localhost")], .hostInvalid),
        Case("Host with a blank", [("Host", "local host")], .hostInvalid),
        Case("HTTP/2.0", [host], .versionNotSupported, version: .init(major: 2, minor: 0)),
        Case("HTTP/1.2", [host], .versionNotSupported, version: .init(major: 1, minor: 2)),
        Case("CONNECT", [host], .connectNotImplemented, method: .CONNECT),
        Case("a length within the limit", [host, ("Content-Length", "100")], nil),
        Case("a length past the limit", [host, ("Content-Length", "101")], .bodyTooLarge(limit: 100)),
        Case(
            "a length past 63 bits", [host, ("Content-Length", "9223372036854775808")], .bodyTooLarge(limit: 100)),
        Case("chunked", [host, ("Transfer-Encoding", "Chunked")], nil),
        Case("a coding before chunked", [host, ("Transfer-Encoding", "gzip, chunked")], .transferCodingUnsupported),
        Case(
            "a coding before chunked in two lines",
            [host, ("Transfer-Encoding", "gzip"), ("Transfer-Encoding", "chunked")],
            .transferCodingUnsupported),
        Case("a coding without chunked", [host, ("Transfer-Encoding", "gzip")], .transferCodingInvalid),
        Case("chunked twice", [host, ("Transfer-Encoding", "chunked, chunked")], .transferCodingInvalid),
        Case("chunked before a coding", [host, ("Transfer-Encoding", "chunked, gzip")], .transferCodingInvalid),
        Case(
            "chunked in HTTP/1.0", [host, ("Transfer-Encoding", "chunked")], .transferCodingInvalid, version: .http1_0
        ),
        Case(
            "a length and a coding", [host, ("Content-Length", "3"), ("Transfer-Encoding", "chunked")], .lengthConflict),
    ]

    @Test("a head is accepted, or refused with the fault for the rule that it violates", arguments: cases)
    func rules(_ example: Case) {
        let head = HTTPRequestHead(
            version: example.version, method: example.method, uri: "/", headers: HTTPHeaders(example.headers))
        var found: HTTPFault?
        do throws(HTTPFault) { try RequestHeadRules.check(head, bodyLimit: 100) } catch { found = error }
        #expect(found == example.fault)
    }
}
