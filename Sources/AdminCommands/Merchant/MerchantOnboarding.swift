import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// Brings one merchant of a file to where it is meant to be.
struct MerchantOnboarding: Sendable {
    let admin: AdminClient
    let makesKeys: Bool
    /// Where CSRs are written; nil leaves them in the daemon.
    let directory: Directory?
    /// When the run began, by the daemon's clock: whoever was added later has no keys yet.
    private let begin: Timestamp?
    /// Names the run, so that a request which is repeated in it makes no second key.
    private let run = UUID().uuidString

    init(admin: AdminClient, makesKeys: Bool, directory: Directory?, begin: String) {
        self.admin = admin
        self.makesKeys = makesKeys
        self.directory = directory
        self.begin = Timestamp(rfc3339: begin)
    }

    func onboard(_ line: MerchantFile.Line) async throws -> BulkOutcome {
        let merchant = try await admin.addMerchant(
            AddMerchantRequest(
                merchantIdentifier: line.identifier.rawValue, name: line.merchantName, targetActiveKeyPairs: line.target
            )
        ).document
        let isNew = begin.map { begin in Timestamp(rfc3339: merchant.createdAt).map { $0 >= begin } ?? false } ?? false
        guard makesKeys else { return isNew ? .done([:]) : .unchanged([:]) }
        let present = isNew ? 0 : try await liveKeys(of: line.identifier)
        var made: [String] = []
        for number in present..<max(present, merchant.targetActiveKeyPairs) {
            let key = try await admin.generateKey(
                of: line.identifier, GenerateKeyRequest(algorithm: nil, purpose: nil),
                idempotencyKey: "\(run)-\(MerchantIdentifierHash(of: line.identifier).hex)-\(number)"
            ).document
            try write(key)
            made.append(key.publicKeyHash)
        }
        return isNew || !made.isEmpty ? .done(["publicKeyHashes": made.joined(separator: " ")]) : .unchanged([:])
    }

    /// Those that count towards the target, or will once their certificate is there.
    private func liveKeys(of merchant: MerchantIdentifier) async throws(ClientError) -> Int {
        try await admin.keys(of: merchant).items.count { key in
            key.purpose == KeyPurpose.paymentProcessing.rawValue
                && KeyState(rawValue: key.state).map { $0 == .pending || $0.isActive } ?? false
        }
    }

    private func write(_ key: KeyDocument) throws {
        guard let directory else { return }
        guard let csr = key.csr, let hash = PublicKeyHash(anySpelling: key.publicKeyHash) else {
            throw ClientError.protocolViolation("found a new key without its CSR")
        }
        let name = CSRFile.name(of: hash, merchant: key.merchantIdentifier, isIdentity: false)
        do throws(CommandFailure) {
            _ = try CSRFile.write(Data(csr.utf8), to: directory.file(name), overwrites: false)
        } catch {
            throw CommandFailure(
                .refused, "key \(hash) was made, but \(error.message); 'key csr --all-pending' writes what is missing")
        }
    }
}
