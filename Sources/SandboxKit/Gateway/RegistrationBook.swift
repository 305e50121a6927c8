import FoundationEssentials
import Glibc
import Synchronization

/// Apple's record of a merchant.
package struct RegisteredMerchant: Codable, Hashable, Sendable {
    package var partnerInternalMerchantIdentifier: String
    package var partnerMerchantName: String
    /// As given at registration.
    package var encryptTo: String
    /// In the order of their registration.
    package var domainNames: [String]
    package var merchantUrl: String?
}

/// What is registered: in memory, and one line a change in a file, so that a restart finds it again.
///
/// A change is in the file before it is answered. A line that was cut off by a kill is passed over; power failure is not a test's concern.
package final class RegistrationBook: Sendable {
    /// Apple's limit, in total for one partnerInternalMerchantIdentifier.
    static let mostDomains = 99

    private struct State {
        var merchants: [String: RegisteredMerchant] = [:]
        var descriptor: CInt = -1
    }

    private let state = Mutex(State())

    /// - Parameter path: the file; nil keeps nothing.
    package init(path: String?) throws {
        guard let path else { return }
        let known = Files.exists(path) ? try Self.read(path) : [:]
        // Written anew: what was changed often takes one line again.
        let lines = try known.values.map { try Self.line($0) }.joined()
        try Files.write(Array(lines), to: path)
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw SandboxFault("can't write '\(path)': \(String(cString: strerror(errno)))") }
        state.withLock { $0 = State(merchants: known, descriptor: descriptor) }
    }

    deinit {
        let descriptor = state.withLock { $0.descriptor }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Everything, by identifier.
    package var merchants: [RegisteredMerchant] {
        state.withLock {
            $0.merchants.values.sorted { $0.partnerInternalMerchantIdentifier < $1.partnerInternalMerchantIdentifier }
        }
    }

    package func merchant(_ identifier: String) -> RegisteredMerchant? { state.withLock { $0.merchants[identifier] } }

    /// Adds domains, or makes the record. Name and encryptTo of a later registration replace the earlier ones: what Apple does
    /// then is not documented.
    ///
    /// - Returns: false where there would be more than 99 domains; nothing is changed then.
    func register(_ new: RegisteredMerchant) throws -> Bool {
        try state.withLock { state in
            var merchant = new
            let known = state.merchants[new.partnerInternalMerchantIdentifier]?.domainNames ?? []
            merchant.domainNames = known + new.domainNames.filter { !known.contains($0) }
            guard merchant.domainNames.count <= Self.mostDomains else { return false }
            try Self.append(merchant, to: state.descriptor)
            state.merchants[new.partnerInternalMerchantIdentifier] = merchant
            return true
        }
    }

    /// Removes domains; with the last one the record. Domains that are not registered are passed over.
    ///
    /// - Returns: false where there is no such merchant.
    func unregister(_ identifier: String, _ domains: [String]) throws -> Bool {
        try state.withLock { state in
            guard var merchant = state.merchants[identifier] else { return false }
            merchant.domainNames.removeAll { domains.contains($0) }
            try Self.append(merchant, to: state.descriptor)
            state.merchants[identifier] = merchant.domainNames.isEmpty ? nil : merchant
            return true
        }
    }

    private static func read(_ path: String) throws -> [String: RegisteredMerchant] {
        var merchants: [String: RegisteredMerchant] = [:]
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path)) } catch { throw SandboxFault("can't read '\(path)'") }
        for line in data.split(separator: UInt8(ascii: "\n")) {
            guard let merchant = try? JSONDecoder().decode(RegisteredMerchant.self, from: Data(line)) else { continue }
            merchants[merchant.partnerInternalMerchantIdentifier] = merchant.domainNames.isEmpty ? nil : merchant
        }
        return merchants
    }

    private static func line(_ merchant: RegisteredMerchant) throws -> [UInt8] {
        Array(try JSONEncoder().encode(merchant)) + [UInt8(ascii: "\n")]
    }

    private static func append(_ merchant: RegisteredMerchant, to descriptor: CInt) throws {
        guard descriptor >= 0 else { return }
        try Files.write(try line(merchant), into: descriptor, named: "the registrations' file")
    }
}
