package import FoundationEssentials
import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// The encoding of a CSR.
    package enum CSREncoding: Sendable {
        case pem, der

        var mediaType: String {
            switch self {
            case .pem: "application/x-pem-file"
            // Source: RFC 5967.
            case .der: "application/pkcs10"
            }
        }
    }

    /// Generates a key pair with its CSR.
    ///
    /// - Parameter idempotencyKey: identifies the request. A repeat with the same idempotency key generates nothing,
    ///   and returns the key pair of the first request.
    package func generateKey(
        of merchant: MerchantIdentifier, _ request: GenerateKeyRequest, idempotencyKey: String? = nil
    ) async throws(ClientError) -> Response<KeyDocument> {
        try await post(Paths.keys(of: merchant), request, idempotencyKey: idempotencyKey)
    }

    package func importKey(
        to merchant: MerchantIdentifier, _ request: ImportKeyRequest
    ) async throws(ClientError) -> Response<KeyDocument> {
        try await post(Paths.keyImport(to: merchant), request)
    }

    /// Imports a key to the merchant that its certificate names.
    package func importKey(_ request: ImportKeyRequest) async throws(ClientError) -> Response<KeyDocument> {
        try await post(Paths.keyImport, request)
    }

    /// Every key pair of the merchant, oldest first.
    package func keys(of merchant: MerchantIdentifier) async throws(ClientError) -> Listing<KeyDocument> {
        try await list(Paths.keys(of: merchant))
    }

    /// At most `limit` key pairs whose publicKeyHash, written as Base64, Base64url or hexadecimal, begins with
    /// `prefix`. This list has no further pages: if it has `limit` items, there may be more such key pairs.
    package func keys(prefix: String, limit: Int) async throws(ClientError) -> Listing<KeyDocument> {
        try await list(Paths.keys, query: [("prefix", prefix)], limit: limit)
    }

    /// The key pairs of all merchants in any of the states: in the order of `states`, and oldest first in each state.
    ///
    /// - Parameter limit: the largest number of key pairs to list for each state.
    /// - Returns: a listing whose `hasMore` is always false, even if `limit` omits key pairs.
    package func keys(in states: [KeyState], limit: Int = .max) async throws(ClientError) -> Listing<KeyDocument> {
        var listings: [Listing<KeyDocument>] = []
        for state in states {
            listings.append(
                try await list(
                    Paths.keys, query: [("state", state.rawValue)], limit: limit, pageSize: Self.keysPerPage))
        }
        return Listing(items: listings.flatMap(\.items), pages: listings.flatMap(\.pages), hasMore: false)
    }

    /// All merchants' active key pairs whose certificate expires before a time, earliest expiry first.
    ///
    /// - Parameter state: nil for all active states.
    package func keys(
        endingBefore time: Timestamp, in state: KeyState?
    ) async throws(ClientError) -> Listing<KeyDocument> {
        var query = [(name: "endingBefore", value: time.rfc3339)]
        if let state { query.append(("state", state.rawValue)) }
        return try await list(Paths.keys, query: query, pageSize: Self.keysPerPage)
    }

    /// A key pair may have several certificates of a few KiB, and a page must fit into 16 MiB, the largest response
    /// that the client reads.
    private static let keysPerPage = 500

    /// One page of all merchants' key pairs that are in `state`, oldest first.
    package func keys(
        in state: KeyState, cursor: String?
    ) async throws(ClientError) -> Response<Page<KeyDocument>> {
        var query = [("state", state.rawValue), ("limit", String(Self.keysPerPage))]
        if let cursor { query.append(("cursor", cursor)) }
        return try await httpClient.fetch(SocketCall(path: Paths.keys, query: query))
    }

    package func key(_ hash: PublicKeyHash) async throws(ClientError) -> Response<KeyDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.key(hash)))
    }

    package func csr(of hash: PublicKeyHash, as encoding: CSREncoding) async throws(ClientError) -> Data {
        try await httpClient.send(SocketCall(path: Paths.csr(of: hash), accept: encoding.mediaType))
    }

    /// Uploads a certificate for the key pair that it certifies.
    ///
    /// - Parameters:
    ///   - file: the content of the certificate file, PEM or DER.
    ///   - merchant: the merchant that the certificate must belong to; nil accepts the certificate of any merchant.
    package func uploadCertificate(
        _ file: Data, of merchant: MerchantIdentifier?
    ) async throws(ClientError) -> Response<KeyDocument> {
        let path = merchant.map(Paths.certificates(of:)) ?? Paths.certificates
        return try await httpClient.fetch(SocketCall(method: .POST, path: path, body: .file(file)))
    }

    /// Makes a key pair the merchant's current one of its purpose and algorithm. Call this when Apple encrypts tokens
    /// to the key pair.
    ///
    /// - Parameter dryRun: if true, the daemon only returns what it would change. The methods below have the same
    ///   parameter.
    package func promote(_ hash: PublicKeyHash, dryRun: Bool) async throws(ClientError) -> Response<
        KeyTransitionDocument
    > {
        var request = KeyTransitionRequest()
        request.dryRun = dryRun
        return try await post(Paths.keyTransition(.promote, hash), request)
    }

    /// Makes the daemon refuse tokens for a key pair from now on.
    package func revoke(
        _ hash: PublicKeyHash, reason: String, dryRun: Bool
    ) async throws(ClientError) -> Response<KeyTransitionDocument> {
        var request = RevokeKeyRequest(reason: reason)
        request.dryRun = dryRun
        return try await post(Paths.keyTransition(.revoke, hash), request)
    }

    /// Undoes the revocation of a key pair.
    package func restore(_ hash: PublicKeyHash, dryRun: Bool) async throws(ClientError) -> Response<
        KeyTransitionDocument
    > {
        var request = KeyTransitionRequest()
        request.dryRun = dryRun
        return try await post(Paths.keyTransition(.restore, hash), request)
    }

    /// Schedules the erasure of a revoked key pair's private key. With a delay of 0, erases the private key at once.
    ///
    /// - Parameter afterSeconds: how long the daemon waits before it erases the private key; nil for the default, 30
    ///   days.
    package func destroy(
        _ hash: PublicKeyHash, afterSeconds: Int?, dryRun: Bool
    ) async throws(ClientError) -> Response<KeyTransitionDocument> {
        var request = DestroyKeyRequest()
        request.afterSeconds = afterSeconds
        request.dryRun = dryRun
        return try await post(Paths.keyTransition(.destroy, hash), request)
    }
}
