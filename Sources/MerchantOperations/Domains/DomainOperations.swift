package import MerchantCore
package import Vocabulary

/// Stores and returns the platform's domain verification file, and checks merchants' domains. Apple registers a domain
/// only if the domain serves this file.
package struct DomainOperations: Sendable {
    package typealias Records = Transactions<any RegistrationReading, any RegistrationWriting & ChangeRecording>

    private let records: Records
    private let domainChecker: any DomainChecker
    private let clock: any WallClock

    package init(records: Records, domainChecker: any DomainChecker, clock: any WallClock) {
        self.records = records
        self.domainChecker = domainChecker
        self.clock = clock
    }

    /// The platform's domain verification file.
    ///
    /// - Throws: `domainFileNotSet` if no file is stored.
    package func domainFile() async throws -> DomainFile {
        guard let file = try await records.read({ try $0.domainFile() }) else {
            throw MerchantError(
                .domainFileNotSet,
                "no domain verification file is stored: download the file from Apple and store it with 'domain file --set FILE'"
            )
        }
        return file
    }

    /// Stores the file that Apple issued for the platform integrator identifier. The bytes are not changed.
    ///
    /// - Parameter bytes: the content of the file, 1 to 65,536 bytes.
    package func setDomainFile(_ bytes: [UInt8], for request: Request) async throws -> DomainFile {
        guard (1...DomainFile.largest).contains(bytes.count) else {
            throw MerchantError(
                bytes.isEmpty ? .malformed : .tooLarge,
                "the domain verification file has \(bytes.count.counted("byte")), expected 1 to \(DomainFile.largest)")
        }
        let file = DomainFile(bytes: bytes, storedAt: clock.now)
        return try await records.write { transaction in
            let before = try transaction.domainFile()
            if let before, before.bytes == bytes { return before }
            try transaction.store(file)
            try transaction.append(
                request.auditEntry(
                    .domainFileChanged, at: file.storedAt, before: before?.summary, after: file.summary))
            return file
        }
    }

    /// Checks a merchant's domain in the same way as Apple does when the domain is registered.
    package func checkDomain(_ domain: DomainName) async throws -> DomainCheckReport {
        let file = try await domainFile()
        return await domainChecker.check(domain, expecting: file.bytes)
    }
}

extension DomainFile {
    /// How audit records describe the file.
    fileprivate var summary: String { "sha256=\(sha256) bytes=\(bytes.count)" }
}
