package import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// The platform's domain verification file.
    ///
    /// - Throws: `domainFileNotSet`.
    package func domainFile() async throws -> DomainFile {
        guard let file = try await repository.read({ try $0.domainFile() }) else {
            throw MerchantError(
                .domainFileNotSet, "no domain verification file is stored, expected one from Apple (domain file --set)")
        }
        return file
    }

    /// Stores the file that Apple gave for the platform integrator's identifier, byte for byte.
    ///
    /// - Parameter bytes: 1 to 65,536.
    package func setDomainFile(_ bytes: [UInt8], for request: Request) async throws -> DomainFile {
        guard (1...DomainFile.largest).contains(bytes.count) else {
            throw MerchantError(
                bytes.isEmpty ? .malformed : .tooLarge,
                "the domain verification file has \(bytes.count) bytes, expected 1 to \(DomainFile.largest)")
        }
        let file = DomainFile(bytes: bytes, storedAt: clock.now)
        return try await repository.write { transaction in
            let before = try transaction.domainFile()
            if let before, before.bytes == bytes { return before }
            try transaction.store(file)
            try transaction.append(
                request.entry(
                    .domainFileChanged, at: file.storedAt, before: before?.summary, after: file.summary))
            return file
        }
    }

    /// Does what Apple will do with a domain before it is asked to register it.
    package func checkDomain(_ domain: DomainName) async throws -> DomainCheckReport {
        let file = try await domainFile()
        guard let domainChecker else {
            throw MerchantError(.notYetAvailable, "this daemon has nothing that checks domains")
        }
        return await domainChecker.check(domain, expecting: file.bytes)
    }
}

extension DomainFile {
    /// What the audit says of it.
    fileprivate var summary: String { "sha256=\(sha256) bytes=\(bytes.count)" }
}
