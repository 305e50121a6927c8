package import MerchantCore
package import Vocabulary

/// Finds that every domain serves the expected file. Connects to no domain.
package struct FakeDomainChecker: DomainChecker {
    package init() {}

    package func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport {
        DomainCheckReport(domain: domain, url: "https://\(domain)/", address: "192.0.2.1", finding: .passed)
    }
}
