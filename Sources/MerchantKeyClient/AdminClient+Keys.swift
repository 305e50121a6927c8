package import FoundationEssentials
import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// How a CSR is written.
    package enum CSREncoding: Sendable {
        case pem, der

        var mediaType: String {
            switch self {
            case .pem: "application/x-pem-file"
            // RFC 5967.
            case .der: "application/pkcs10"
            }
        }
    }

    /// - Parameter idempotencyKey: with it a repeat of the request answers with the key that the first one made.
    package func generateKey(
        of merchant: MerchantIdentifier, _ request: GenerateKeyRequest, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Answer<KeyDocument> {
        try await post(Paths.keys(of: merchant), request, idempotencyKey: idempotencyKey)
    }

    package func importKey(
        to merchant: MerchantIdentifier, _ request: ImportKeyRequest
    ) async throws(ClientError) -> Answer<KeyDocument> {
        try await post(Paths.keyImport(to: merchant), request)
    }

    /// Every key pair of the merchant, oldest first.
    package func keys(of merchant: MerchantIdentifier) async throws(ClientError) -> Listing<KeyDocument> {
        try await list(Paths.keys(of: merchant))
    }

    /// Key pairs whose publicKeyHash begins so, in any of its spellings. The daemon has no pages here: `most` items may
    /// mean that there are more.
    package func keys(prefix text: String, most: Int) async throws(ClientError) -> Listing<KeyDocument> {
        try await list(Paths.keys, query: [("prefix", text)], most: most)
    }

    /// One page of every merchant's key pairs in a state, in the order they were made.
    package func keys(
        in state: KeyState, cursor: String?
    ) async throws(ClientError) -> Answer<Page<KeyDocument>> {
        var query = [("state", state.rawValue), ("limit", String(Page<KeyDocument>.largestLimit))]
        if let cursor { query.append(("cursor", cursor)) }
        return try await connection.fetch(SocketCall(path: Paths.keys, query: query))
    }

    package func key(_ hash: PublicKeyHash) async throws(ClientError) -> Answer<KeyDocument> {
        try await connection.fetch(SocketCall(path: Paths.key(hash)))
    }

    package func csr(of hash: PublicKeyHash, as encoding: CSREncoding) async throws(ClientError) -> Data {
        try await connection.send(SocketCall(path: Paths.csr(of: hash), accept: encoding.mediaType))
    }

    /// - Parameters:
    ///   - file: PEM or DER, as it was received.
    ///   - merchant: the merchant whose certificate it must be; nil to find it by the key pair.
    package func uploadCertificate(
        _ file: Data, of merchant: MerchantIdentifier?
    ) async throws(ClientError) -> Answer<KeyDocument> {
        let path = merchant.map(Paths.certificates(of:)) ?? "/v1/certificates"
        return try await connection.fetch(SocketCall(method: .POST, path: path, body: .file(file)))
    }

    package func promote(_ hash: PublicKeyHash, dryRun: Bool) async throws(ClientError) -> Answer<KeyTransitionDocument>
    {
        try await post(Paths.verb(.promote, hash), KeyTransitionRequest(dryRun: dryRun))
    }

    package func revoke(
        _ hash: PublicKeyHash, reason: String, dryRun: Bool
    ) async throws(ClientError) -> Answer<KeyTransitionDocument> {
        try await post(Paths.verb(.revoke, hash), RevokeKeyRequest(reason: reason, dryRun: dryRun))
    }

    package func restore(_ hash: PublicKeyHash, dryRun: Bool) async throws(ClientError) -> Answer<KeyTransitionDocument>
    {
        try await post(Paths.verb(.restore, hash), KeyTransitionRequest(dryRun: dryRun))
    }

    /// - Parameter afterSeconds: nil for the daemon's default of 30 days.
    package func destroy(
        _ hash: PublicKeyHash, afterSeconds: Int?, dryRun: Bool
    ) async throws(ClientError) -> Answer<KeyTransitionDocument> {
        try await post(Paths.verb(.destroy, hash), DestroyKeyRequest(afterSeconds: afterSeconds, dryRun: dryRun))
    }
}
