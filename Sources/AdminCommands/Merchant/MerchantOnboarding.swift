import MerchantKeyClient
import Vocabulary
import WireAPI

/// `merchant import`: adds the merchants of a file, and generates their key pairs if requested.
struct MerchantOnboarding: Sendable {
    let admin: AdminClient
    let generatesKeys: Bool
    /// The directory into which CSRs are written; nil to write none.
    let directory: Directory?
    /// When the run began, by the daemon's clock. A merchant or key pair that was created at this time or later is
    /// reported as created by this run.
    let runStart: Timestamp

    /// Adds one merchant, and its key pairs if requested, with one request. The request is safe to repeat: the daemon
    /// creates nothing twice, and responds with what the first request created.
    func onboard(_ line: MerchantFile.Line) async throws -> BulkOutcome {
        var request = line.request
        request.generateKeyPairs = generatesKeys ? true : nil
        let merchant = try await admin.addMerchant(request).document
        guard generatesKeys else { return isFromThisRun(merchant.createdAt) ? .done([:]) : .unchanged([:]) }
        let generated = (merchant.pendingKeyPairs ?? []).filter {
            $0.purpose == .paymentProcessing && isFromThisRun($0.createdAt)
        }
        for key in generated { try writeCSR(of: key) }
        return isFromThisRun(merchant.createdAt) || !generated.isEmpty
            ? .done(["publicKeyHashes": generated.map(\.publicKeyHash.base64).joined(separator: " ")]) : .unchanged([:])
    }

    private func isFromThisRun(_ time: Timestamp) -> Bool { time >= runStart }

    private func writeCSR(of key: KeyDocument) throws {
        guard let directory else { return }
        do { _ = try CSRFile.write(key, to: directory) } catch let failure as CommandFailure {
            throw CommandFailure(
                .failed,
                "key \(key.publicKeyHash) was generated, but \(failure.message); 'key csr --all-pending' writes the missing CSRs"
            )
        }
    }
}
