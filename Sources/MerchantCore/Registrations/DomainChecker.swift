package import Vocabulary

/// Does what Apple will do with a merchant's domain, before Apple is asked: fetches the domain verification file over
/// HTTPS and holds it against ours.
package protocol DomainChecker: Sendable {
    /// Never throws: what keeps the check from ending is a finding.
    ///
    /// - Parameter file: the bytes that have to be served, one and all.
    func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport
}

/// What the check of one domain found.
package struct DomainCheckReport: Hashable, Sendable {
    package let domain: DomainName
    /// The network address that was asked; nil where no connection was made.
    package let address: String?
    /// Empty where Apple would be content.
    package let findings: [DomainCheckFinding]

    package init(domain: DomainName, address: String?, findings: [DomainCheckFinding]) {
        self.domain = domain
        self.address = address
        self.findings = findings
    }

    package var isFine: Bool { findings.isEmpty }
}

/// One thing that keeps Apple from verifying a domain.
package struct DomainCheckFinding: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case nameNotResolved
        /// Private, loopback or link-local: Apple can't reach it, and we are not to.
        case internalAddress
        case unreachable
        case timedOut
        case certificateExpired
        case certificateUntrusted
        case certificateForOtherName
        case redirected
        case wrongStatus
        case wrongBytes
        case tooLarge
        case tlsFailed
    }

    package let kind: Kind
    /// What was found and expected, in lower case.
    package let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
