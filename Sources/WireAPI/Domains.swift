package import Vocabulary

extension Paths {
    package static let domainFile = "/v1/domain-file"
    package static let domainChecks = "/v1/domain-checks"
    package static let wellKnownDomainFile = "/.well-known/apple-developer-merchantid-domain-association"
}

/// The response of `GET` and `PUT /v1/domain-file`: a description of the platform's domain verification file, which
/// Apple fetches from each merchant's domain. `GET` with the path ``Paths/wellKnownDomainFile`` returns the file
/// itself.
package struct DomainFileDocument: Codable, Hashable, Sendable {
    /// SHA-256 of the file as 64 lower-case hexadecimal digits.
    package let sha256: String
    /// The size of the file in bytes.
    package let size: Int
    package let storedAt: Timestamp

    package init(sha256: String, size: Int, storedAt: Timestamp) {
        (self.sha256, self.size, self.storedAt) = (sha256, size, storedAt)
    }
}

/// The response of `POST /v1/domain-checks`, which checks a domain as Apple does.
package struct DomainCheckDocument: Codable, Hashable, Sendable {
    /// A reason why Apple would not verify the domain.
    package struct Finding: Codable, Hashable, Sendable {
        /// The code of the problem, such as `nameNotResolved`, `redirected` or `wrongContent`.
        package let kind: String
        package let detail: String

        package init(kind: String, detail: String) { (self.kind, self.detail) = (kind, detail) }
    }

    package let domainName: DomainName
    /// Whether Apple would verify the domain.
    package var passed: Bool
    /// The network address that was contacted; nil if no connection was attempted.
    package var address: String?
    package var findings: [Finding]

    package init(_ domain: DomainName, address: String?, findings: [Finding]) {
        (domainName, self.address, self.findings, passed) = (domain, address, findings, findings.isEmpty)
    }
}

/// The body of `POST /v1/domain-checks`.
package struct DomainCheckRequest: RequestBody {
    package let domainName: DomainName

    package init(_ domain: DomainName) { domainName = domain }
}
