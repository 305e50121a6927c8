import MerchantKeyClient
import Vocabulary
import WireAPI

/// Brings one merchant of a file to where it is meant to be.
struct MerchantOnboarding: Sendable {
    let admin: AdminClient
    let makesKeys: Bool
    /// Where CSRs are written; nil leaves them in the daemon.
    let directory: Directory?
    /// When the run began, by the daemon's clock: what was made later, it made.
    private let begin: Timestamp?

    init(admin: AdminClient, makesKeys: Bool, directory: Directory?, begin: String) {
        self.admin = admin
        self.makesKeys = makesKeys
        self.directory = directory
        self.begin = Timestamp(rfc3339: begin)
    }

    /// One request for each merchant, and the same when repeated: the answer names what is there, whoever made it.
    func onboard(_ line: MerchantFile.Line) async throws -> BulkOutcome {
        let merchant = try await admin.addMerchant(
            AddMerchantRequest(
                merchantIdentifier: line.identifier.rawValue, name: line.merchantName,
                targetActiveKeyPairs: line.target, generateKeyPairs: makesKeys ? true : nil)
        ).document
        guard makesKeys else { return isOfThisRun(merchant.createdAt) ? .done([:]) : .unchanged([:]) }
        let made = (merchant.pendingKeyPairs ?? []).filter {
            $0.purpose == KeyPurpose.paymentProcessing.rawValue && isOfThisRun($0.createdAt)
        }
        for key in made { try write(key) }
        return isOfThisRun(merchant.createdAt) || !made.isEmpty
            ? .done(["publicKeyHashes": made.map(\.publicKeyHash).joined(separator: " ")]) : .unchanged([:])
    }

    private func isOfThisRun(_ time: String) -> Bool {
        begin.flatMap { begin in Timestamp(rfc3339: time).map { $0 >= begin } } ?? false
    }

    private func write(_ key: KeyDocument) throws {
        guard let directory else { return }
        do { _ = try CSRFile.write(key, to: directory) } catch let failure as CommandFailure {
            throw CommandFailure(
                .refused,
                "key \(key.publicKeyHash) was made, but \(failure.message); 'key csr --all-pending' writes what is missing"
            )
        }
    }
}
