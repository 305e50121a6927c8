package import Vocabulary

/// Checks a merchant's domain as Apple does when the domain is registered.
package protocol DomainChecker: Sendable {
    /// Fetches `https://DOMAIN/.well-known/apple-developer-merchantid-domain-association` and compares the response
    /// with `file`.
    ///
    /// Limits the duration and the size of the response. Sends only this one request, and only if the name resolves to
    /// a public address or the settings allow internal addresses.
    func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport
}

/// The result of checking a domain.
package struct DomainCheckReport: Hashable, Sendable {
    package let domain: DomainName
    package let url: String
    /// The address that was contacted; nil if no connection was attempted.
    package let address: String?
    package let finding: DomainCheckFinding

    package init(domain: DomainName, url: String, address: String?, finding: DomainCheckFinding) {
        self.domain = domain
        self.url = url
        self.address = address
        self.finding = finding
    }

    package var hasPassed: Bool { finding == .passed }
}

/// The first problem of a domain; ``passed`` if there is none. An associated `String` without a label is the reason,
/// unless a comment above the case says otherwise.
package enum DomainCheckFinding: Hashable, Sendable {
    case passed
    case nameNotResolved(String)
    /// The name resolves to an internal address: private, loopback, link-local or otherwise not public.
    case addressRefused(address: String, kind: String)
    /// The string is the address that refused the connection.
    case connectionRefused(String)
    case connectionFailed(String)
    case timedOut(seconds: Int)
    // For the next four cases, the string describes the certificate.
    case certificateExpired(String)
    case certificateNotYetValid(String)
    case certificateUntrusted(String)
    case certificateForOtherName(String)
    case tlsFailed(String)
    case redirected(status: Int, location: String)
    case wrongStatus(Int)
    case tooLarge(limit: Int)
    case wrongContent(ContentDifference)
    case protocolViolation(String)

    /// The size in bytes and the SHA-256 in lower-case hexadecimal of the response and of the expected file.
    package struct ContentDifference: Hashable, Sendable {
        package let foundSize: Int
        package let foundDigest: String
        package let expectedSize: Int
        package let expectedDigest: String
        /// The likely cause of the difference, such as "the response looks like a web page".
        package let hint: String?

        package init(foundSize: Int, foundDigest: String, expectedSize: Int, expectedDigest: String, hint: String?) {
            self.foundSize = foundSize
            self.foundDigest = foundDigest
            self.expectedSize = expectedSize
            self.expectedDigest = expectedDigest
            self.hint = hint
        }
    }
}

extension DomainCheckFinding {
    /// All values of ``code`` except `passed`.
    package static let codes = [
        "nameNotResolved", "addressRefused", "connectionRefused", "connectionFailed", "timedOut", "certificateExpired",
        "certificateNotYetValid", "certificateUntrusted", "certificateForOtherName", "tlsFailed", "redirected",
        "wrongStatus", "tooLarge", "wrongContent", "protocolViolation",
    ]

    /// A stable code for programs.
    package var code: String {
        switch self {
        case .passed: "passed"
        case .nameNotResolved: "nameNotResolved"
        case .addressRefused: "addressRefused"
        case .connectionRefused: "connectionRefused"
        case .connectionFailed: "connectionFailed"
        case .timedOut: "timedOut"
        case .certificateExpired: "certificateExpired"
        case .certificateNotYetValid: "certificateNotYetValid"
        case .certificateUntrusted: "certificateUntrusted"
        case .certificateForOtherName: "certificateForOtherName"
        case .tlsFailed: "tlsFailed"
        case .redirected: "redirected"
        case .wrongStatus: "wrongStatus"
        case .tooLarge: "tooLarge"
        case .wrongContent: "wrongContent"
        case .protocolViolation: "protocolViolation"
        }
    }

    /// A sentence in lower case: what the check found, and what Apple expects.
    package var detail: String {
        switch self {
        case .passed: "the file is served as Apple expects it"
        case .nameNotResolved(let why): "the name does not resolve: \(why)"
        case .addressRefused(let address, let kind):
            "the name resolves to \(address), which is not a public address (\(kind)): Apple cannot reach it, and the daemon does not connect to it"
        case .connectionRefused(let address): "\(address) refuses the connection: serve the file there over HTTPS"
        case .connectionFailed(let why): "no connection: \(why)"
        case .timedOut(let seconds): "no response within \(seconds) s"
        case .certificateExpired(let what): "the certificate has expired: \(what)"
        case .certificateNotYetValid(let what): "the certificate is not valid yet: \(what)"
        case .certificateUntrusted(let what): "the certificate does not chain to a trusted root: \(what)"
        case .certificateForOtherName(let what): "the certificate is for another name: \(what)"
        case .tlsFailed(let why): "TLS failed: \(why)"
        case .redirected(let status, let location):
            "the server redirects to \(location) (status \(status)), expected status 200: Apple does not follow redirects"
        case .wrongStatus(let status): "found status \(status), expected 200"
        case .tooLarge(let limit):
            "the response has more than \(limit) bytes, so it is not the domain verification file"
        case .wrongContent(let difference):
            "the response is not the domain verification file: found \(difference.foundSize.counted("byte")) (SHA-256 \(difference.foundDigest)), expected \(difference.expectedSize.counted("byte")) (SHA-256 \(difference.expectedDigest))"
                + (difference.hint.map { ": \($0)" } ?? "")
        case .protocolViolation(let why): "the server's response is not valid HTTP: \(why)"
        }
    }
}
