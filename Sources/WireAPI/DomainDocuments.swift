/// The platform's domain verification file as `/v1/domain-file` describes it; its bytes are at ``Paths/wellKnownDomainFile``.
package struct DomainFileDocument: Codable, Hashable, Sendable {
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
    /// Bytes.
    package let size: Int
    package let storedAt: String

    package init(sha256: String, size: Int, storedAt: String) {
        self.sha256 = sha256
        self.size = size
        self.storedAt = storedAt
    }
}

/// What `POST /v1/domain-checks` found.
package struct DomainCheckDocument: Codable, Hashable, Sendable {
    /// One thing that keeps Apple from verifying the domain.
    package struct Finding: Codable, Hashable, Sendable {
        /// `nameNotResolved`, `redirected`, `wrongBytes`, …
        package let kind: String
        package let detail: String

        package init(kind: String, detail: String) {
            self.kind = kind
            self.detail = detail
        }
    }

    package let domainName: String
    /// Whether Apple would be content.
    package let fine: Bool
    /// The network address that was asked; nil where no connection was made.
    package let address: String?
    package let findings: [Finding]

    package init(domainName: String, fine: Bool, address: String?, findings: [Finding]) {
        self.domainName = domainName
        self.fine = fine
        self.address = address
        self.findings = findings
    }
}
