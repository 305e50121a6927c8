import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import Synchronization
import Testing
import Vocabulary

/// Requests for keys that the cache of responses contains, but not the custodian's cache.
@Suite struct UncachedKeyTests {
    let server = DecryptorTestServer()
    let key = P256.KeyAgreement.PrivateKey()

    private var symmetricKeyBody: String {
        let point = P256.KeyAgreement.PrivateKey().publicKey.derRepresentation
        return #"{"ephemeralPublicKey":"\#(point.base64EncodedString())"}"#
    }

    private func decryptBody(payment: UInt8, signedAfter seconds: Int = 0) throws -> String {
        let signedAt = server.clock.now.adding(.seconds(seconds))
        return try MintedToken(to: key.publicKey, payment: payment, signedAt: signedAt)
            .request(expected: #"{"merchantIdentifier":"\#(DecryptorTestServer.merchant)"}"#, "")
    }

    @Test func `a private key is read on a thread that may block, and only if it is not cached`() async throws {
        let hash = server.addKey(key: key)
        let symmetricKey = "/v1/keys/\(hash.base64URL)/symmetric-key"
        let decrypt = "/v1/payment-tokens/decrypt"
        let requests = [
            (path: symmetricKey, body: symmetricKeyBody, status: 200),
            (path: decrypt, body: try decryptBody(payment: 1), status: 200),
            // The daemon decrypts a token whose signing time is refused, to find out whether the token is genuine.
            (path: decrypt, body: try decryptBody(payment: 2, signedAfter: 3600), status: 422),
        ]
        try await server.serve { _ in
            // Now the cache of responses contains the key.
            _ = try await server.ask("GET", "/v1/keys/\(hash.base64URL)")
            for request in requests {
                server.custodian.emptyCache()
                let reply = try await server.ask("POST", request.path, request.body)
                #expect(reply.status == request.status, "\(reply.text)")
            }
            #expect(server.custodian.reads.withLock { $0 } == [true, true, true])
            #expect(try await server.ask("POST", symmetricKey, symmetricKeyBody).status == 200)
            #expect(try await server.ask("POST", decrypt, try decryptBody(payment: 3)).status == 200)
            #expect(server.custodian.reads.withLock { $0 }.count == 3)
        }
    }

    @Test func `a cached EC key is used on the event loop, and any other key is not`() async throws {
        let (hash, rsa) = (server.addKey(key: key), server.addKey(algorithm: .rsaV1))
        var limits = Limits()
        limits.waitingRequests = 1
        try await server.serve(limits: limits) { _ in
            let target = "/v1/keys/\(hash.base64URL)/symmetric-key"
            #expect(try await server.ask("POST", target, symmetricKeyBody).status == 200)
            let gate = server.closeGate()
            let path = server.socketPath
            let body = symmetricKeyBody
            let custodian = server.custodian
            let statuses = try await server.blocking {
                // From now on, a request that needs another thread is refused.
                let slow = try SocketClient(path)
                slow.send(DecryptorTestServer.slowRequest(rsa))
                gate.awaitArrivals(1)
                let other = try SocketClient(path)
                let cached = try other.ask("POST", target, body).status
                custodian.emptyCache()
                let uncached = try other.ask("POST", target, body).status
                gate.open()
                return [cached, uncached, try slow.reply()?.status]
            }
            #expect(statuses == [200, 503, 200])
        }
    }
}
