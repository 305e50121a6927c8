import FoundationEssentials
import Glibc
import Synchronization

/// Apple's record of a merchant.
package struct RegisteredMerchant: Codable, Hashable, Sendable {
    package var partnerInternalMerchantIdentifier: String
    package var partnerMerchantName: String
    /// The identifier in the registration request. Apple's response to getDetails contains only its SHA-256 hash.
    package var encryptTo: String
    /// The domains in the order of their registration.
    package var domainNames: [String]
    package var merchantUrl: String?
    /// The hash of the platform's identifier, from the identity certificate with which the merchant was registered.
    /// Only this platform may request sessions for the merchant. Nil in records of older versions: then any client may.
    package var registeredBy: String?
}

/// The registered merchants, in memory and, if a path is given, in a file. The file keeps the merchants across a
/// restart. A lock on the file's directory prevents two processes from writing the file: the second process would
/// replace the first one's file.
///
/// Before the response is sent, each change appends the merchant's new record to the file, as one line of JSON. A line
/// that is incomplete, because the process was killed, is ignored. The file is not synced, so a power failure can lose
/// changes.
package final class RegistrationStore: Sendable {
    /// Apple's limit for the domains of one partnerInternalMerchantIdentifier.
    static let maximumDomainCount = 99

    private struct State {
        var merchants: [String: RegisteredMerchant] = [:]
        /// The open file; -1 if the registrations are kept in memory only.
        var descriptor: CInt = -1
        /// The lock on the file's directory; nil if the registrations are kept in memory only.
        var lock: DirectoryLock?
    }

    private let state = Mutex(State())

    /// - Parameter path: the path of the file; nil to keep the registrations in memory only.
    /// - Throws: ``SandboxError`` if the file cannot be read or written, or if another process uses its directory.
    package init(path: String?) throws {
        guard let path else { return }
        let lock = try DirectoryLock(Files.directory(of: path))
        let merchants = Files.exists(path) ? try Self.read(path) : [:]
        // Compacts the file to one line for each merchant, because each change since the last start appended a line.
        let lines = try merchants.values.map { try Self.line($0) }.joined()
        try Files.write(Array(lines), to: path)
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw SandboxError("cannot write '\(path)': \(String(cString: strerror(errno)))") }
        state.withLock { $0 = State(merchants: merchants, descriptor: descriptor, lock: lock) }
    }

    deinit { release() }

    /// Closes the file and releases the lock, so that another process can use the directory. Later changes are kept in
    /// memory only.
    func release() {
        state.withLock { state in
            if state.descriptor >= 0 { close(state.descriptor) }
            state.descriptor = -1
            state.lock = nil
        }
    }

    /// All registered merchants, sorted by identifier.
    package var merchants: [RegisteredMerchant] {
        state.withLock {
            $0.merchants.values.sorted { $0.partnerInternalMerchantIdentifier < $1.partnerInternalMerchantIdentifier }
        }
    }

    package func merchant(_ identifier: String) -> RegisteredMerchant? { state.withLock { $0.merchants[identifier] } }

    /// Registers a merchant, or adds domains to a registered merchant. For a registered merchant, the new values
    /// replace all other fields; Apple does not document this case.
    ///
    /// - Returns: false, without any change, if the merchant would have more than 99 domains.
    func register(_ new: RegisteredMerchant) throws -> Bool {
        try state.withLock { state in
            var merchant = new
            let registered = state.merchants[new.partnerInternalMerchantIdentifier]?.domainNames ?? []
            merchant.domainNames = registered + new.domainNames.filter { !registered.contains($0) }
            guard merchant.domainNames.count <= Self.maximumDomainCount else { return false }
            try Self.append(merchant, to: state.descriptor)
            state.merchants[new.partnerInternalMerchantIdentifier] = merchant
            return true
        }
    }

    /// Removes domains from a merchant, and removes the merchant if no domain is left. Domains that are not registered
    /// are ignored.
    ///
    /// - Returns: false if the merchant is not registered.
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
        let data = try Files.read(path, limit: .max - 1)
        // Ignores lines that cannot be decoded, because they are incomplete. If a merchant has several lines, the last
        // one applies. A line without domains means that the merchant was removed.
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
        try Files.write(try line(merchant), into: descriptor, named: "registrations.jsonl")
    }
}
