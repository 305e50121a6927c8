import Foundation
import KeyCustody
import MerchantCore
import MerchantTestSupport
import Secrets
import Synchronization
import Vocabulary

/// A directory for one test. It is removed when this value is released.
final class Scratch {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("custody-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ bytes: some Sequence<UInt8> = []) throws -> String {
        let file = "\(path)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))) }
}

enum Tool {
    /// - Returns: the program's standard output.
    /// - Throws: ``ChildProcess/Failure``, with the standard error output, if the program fails.
    @discardableResult
    static func run(_ arguments: [String], in scratch: Scratch, input: [UInt8] = []) throws -> [UInt8] {
        try ChildProcess.output(of: arguments, input: input, directory: scratch.path)
    }

    @discardableResult
    static func openssl(_ command: String, in scratch: Scratch, input: [UInt8] = []) throws -> [UInt8] {
        try run(["openssl"] + command.split(separator: " ").map(String.init), in: scratch, input: input)
    }

    /// Whether Python and its package `cryptography` are installed.
    static let hasPython: Bool = {
        guard let scratch = try? Scratch() else { return false }
        return (try? run(["python3", "-c", "import cryptography"], in: scratch)) != nil
    }()
}

/// The published key pairs and tokens of one real merchant, in the directory that the environment names.
enum Fixtures {
    static let directory = ProcessInfo.processInfo.environment["MERCHANTKEYD_FIXTURES"]
    static var arePresent: Bool { directory != nil }

    static func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(directory ?? "")/\(name)")))
    }
}

/// A store of data keys and key pairs in memory.
final class MemoryStore: DataKeyRepository, Sendable {
    let rows = Mutex<[SealedDataKey]>([])
    let pairs = Mutex<[PublicKeyHash: SealedKeyPair]>([:])

    func dataKeys() throws -> [SealedDataKey] { rows.withLock { $0 } }
    func insert(_ dataKey: SealedDataKey) throws { rows.withLock { $0.append(dataKey) } }

    func add(_ new: NewKeyPair, of merchant: MerchantIdentifier, state: KeyState = .current) {
        let pair = KeyPair(
            publicKeyHash: new.publicKeyHash, merchantIdentifier: merchant, algorithm: new.algorithm,
            purpose: new.purpose, origin: .generated, state: state, createdAt: .now, stateSince: .now)
        pairs.withLock { $0[new.publicKeyHash] = SealedKeyPair(keyPair: pair, sealedPrivateKey: new.sealedPrivateKey) }
    }

    func setState(_ state: KeyState, of hash: PublicKeyHash) {
        pairs.withLock { pairs in
            guard let found = pairs[hash] else { return }
            var pair = found.keyPair
            pair.state = state
            pairs[hash] = SealedKeyPair(keyPair: pair, sealedPrivateKey: found.sealedPrivateKey)
        }
    }

    func custody(
        _ masterKey: borrowing MasterKey, issuers: CertificateIssuers? = nil,
        cache: UnsealedKeyCache = UnsealedKeyCache()
    ) throws -> KeyCustody {
        KeyCustody(
            keyring: try Keyring(opening: self, with: masterKey, at: .now), certificateIssuers: CurrentValue(issuers),
            cache: cache
        ) { hash in self.pairs.withLock { $0[hash] } }
    }
}

/// A key custody with its own store.
struct CustodyFixture {
    // swift-format-ignore: NeverForceUnwrap
    static let merchant = MerchantIdentifier("merchant.com.example.shop")!  // in the required form
    // swift-format-ignore: NeverForceUnwrap
    static let otherMerchant = MerchantIdentifier("merchant.com.example.other")!  // in the required form

    let store = MemoryStore()
    let cache: UnsealedKeyCache
    let custody: KeyCustody

    init(issuers: CertificateIssuers? = nil, capacity: Int = 100) throws {
        cache = UnsealedKeyCache(capacity: capacity)
        custody = try store.custody(MasterKey.random(), issuers: issuers, cache: cache)
    }

    func generate(
        _ algorithm: KeyAlgorithm = .ecV1, purpose: KeyPurpose = .paymentProcessing, state: KeyState = .current,
        for merchant: MerchantIdentifier = merchant
    ) throws -> NewKeyPair {
        let new = try custody.generateKeyPair(algorithm: algorithm, purpose: purpose, for: merchant)
        store.add(new, of: merchant, state: state)
        return new
    }

    func `import`(
        _ file: [UInt8], passphrase: String = "", purpose: KeyPurpose = .paymentProcessing,
        for merchant: MerchantIdentifier = merchant
    ) throws -> NewKeyPair {
        try importWithCertificate(file, passphrase: passphrase, purpose: purpose, for: merchant).keyPair
    }

    func importWithCertificate(
        _ file: [UInt8], number: Int? = nil, passphrase: String = "", purpose: KeyPurpose = .paymentProcessing,
        for merchant: MerchantIdentifier = merchant
    ) throws -> ImportedKeyPair {
        let imported = try custody.importKeyPair(
            privateKey: SecretBytes(copying: file), number: number,
            passphrase: SecretBytes(copying: Array(passphrase.utf8)), purpose: purpose, for: merchant)
        store.add(imported.keyPair, of: merchant)
        return imported
    }

    func symmetricKey(_ hash: PublicKeyHash, _ material: SymmetricKeyMaterial) throws -> [UInt8] {
        try custody.symmetricKey(hash, from: material).withUnsafeBytes { Array($0) }
    }

    func export(_ hash: PublicKeyHash) throws -> [UInt8] {
        try custody.exportPrivateKey(hash).withUnsafeBytes { Array($0) }
    }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(Date()) }
}

/// The domain error that `body` throws; nil if it throws none.
func refusal<Result: ~Copyable>(_ body: () throws -> Result) -> MerchantError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? MerchantError
    }
}
