import FoundationEssentials
import NIOHTTP1
import WireAPI

/// A client of the decryptor socket of `merchantkeyd`, for processes that decrypt payment tokens.
///
/// Several tasks can use a client at the same time. The client keeps connections open: call ``shutdown()`` when done,
/// or use ``with(socketPath:_:)``.
public final class DecryptorClient: Sendable {
    let httpClient: SocketHTTPClient

    /// Creates a client. The client connects to the daemon at the first call.
    ///
    /// - Parameter socketPath: the path of the decryptor socket, at most 103 bytes.
    public init(socketPath: String) { httpClient = SocketHTTPClient(socketPath: socketPath) }

    /// Closes the connections. Later calls fail.
    public func shutdown() async { await httpClient.shutdown() }

    /// Runs `body` with a client and shuts the client down afterwards, even if `body` throws.
    public static func with<Result>(
        socketPath: String, _ body: (DecryptorClient) async throws -> Result
    ) async throws -> Result {
        let client = DecryptorClient(socketPath: socketPath)
        do {
            let result = try await body(client)
            await client.shutdown()
            return result
        } catch {
            await client.shutdown()
            throw error
        }
    }

    /// Finds the key that a token is encrypted to.
    ///
    /// - Parameter publicKeyHash: the `publicKeyHash` of the token's header, unchanged.
    /// - Throws: ``ClientError/refused(_:)`` with `keyNotFound`, `keyRevoked` or `keyDestroyed` if the key may not be
    ///   used.
    public func resolve(_ publicKeyHash: String) async throws(ClientError) -> ResolvedKey {
        let response: Response<ResolvedKeyDocument> = try await httpClient.fetch(
            SocketCall(path: Self.path(of: publicKeyHash)))
        return ResolvedKey(response.document)
    }

    /// Restores the symmetric key of an EC_v1 token. The private key stays in the daemon.
    ///
    /// - Parameters:
    ///   - publicKeyHash: the `publicKeyHash` of the token's header, unchanged.
    ///   - ephemeralPublicKey: the `ephemeralPublicKey` of the token's header, in Base64, unchanged.
    /// - Returns: the 32 bytes of the key for AES-256-GCM. Overwrite them after use.
    public func symmetricKey(
        of publicKeyHash: String, ephemeralPublicKey: String
    ) async throws(ClientError) -> [UInt8] {
        var request = SymmetricKeyRequest()
        request.ephemeralPublicKey = ephemeralPublicKey
        return try await symmetricKey(of: publicKeyHash, request)
    }

    /// Restores the symmetric key of an RSA_v1 token. The private key stays in the daemon.
    ///
    /// - Parameters:
    ///   - publicKeyHash: the `publicKeyHash` of the token's header, unchanged.
    ///   - wrappedKey: the `wrappedKey` of the token's header, in Base64, unchanged.
    /// - Returns: the 16 bytes of the key for AES-128-GCM. Overwrite them after use.
    public func symmetricKey(of publicKeyHash: String, wrappedKey: String) async throws(ClientError) -> [UInt8] {
        var request = SymmetricKeyRequest()
        request.wrappedKey = wrappedKey
        return try await symmetricKey(of: publicKeyHash, request)
    }

    private func symmetricKey(
        of publicKeyHash: String, _ request: SymmetricKeyRequest
    ) async throws(ClientError) -> [UInt8] {
        let response: Response<SymmetricKeyDocument> = try await httpClient.fetch(
            SocketCall(
                method: .POST, path: "\(Self.path(of: publicKeyHash))/symmetric-key", body: try .encoded(request)))
        guard let key = Data(base64Encoded: response.document.symmetricKey), [16, 32].contains(key.count) else {
            throw .protocolViolation("the symmetric key is not Base64 of 16 or 32 bytes")
        }
        return Array(key)
    }

    /// The path of a key. The hash is not validated here: the daemon validates the hash and reports what is wrong.
    private static func path(of publicKeyHash: String) -> String {
        "\(Paths.keys)/\(PercentEncoding.encode(publicKeyHash))"
    }
}
