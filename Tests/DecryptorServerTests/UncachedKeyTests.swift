import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import Synchronization
import Testing
import Vocabulary

/// Requests for keys that the cache of responses contains, but not the custodian's cache.
@Suite struct UncachedKeyTests {
    let stage = Stage()
    let key = P256.KeyAgreement.PrivateKey()

    private var symmetricKeyBody: String {
        let point = P256.KeyAgreement.PrivateKey().publicKey.derRepresentation
        return #"{"ephemeralPublicKey":"\#(point.base64EncodedString())"}"#
    }

    private func decryptBody(payment: UInt8, signedAfter seconds: Int = 0) throws -> String {
        let signedAt = stage.clock.now.adding(.seconds(seconds))
        return try MintedToken(to: key.publicKey, payment: payment, signedAt: signedAt)
            .request(expected: #"{"merchantIdentifier":"\#(Stage.merchant)"}"#, "")
    }

    @Test func `a private key is read on a thread that may block, and only if it is not cached`() async throws {
        let hash = stage.addKey(key: key)
        let symmetricKey = "/v1/keys/\(hash.base64URL)/symmetric-key"
        let decrypt = "/v1/payment-tokens/decrypt"
        let requests = [
            (path: symmetricKey, body: symmetricKeyBody, status: 200),
            (path: decrypt, body: try decryptBody(payment: 1), status: 200),
            // The daemon decrypts a token whose signing time is refused, to find out whether the token is genuine.
            (path: decrypt, body: try decryptBody(payment: 2, signedAfter: 3600), status: 422),
        ]
        try await stage.serve { _ in
            // Now the cache of responses contains the key.
            _ = try await stage.ask("GET", "/v1/keys/\(hash.base64URL)")
            for request in requests {
                stage.custodian.emptyCache()
                let reply = try await stage.ask("POST", request.path, request.body)
                #expect(reply.status == request.status, "\(reply.text)")
            }
            #expect(stage.custodian.reads.withLock { $0 } == [true, true, true])
            #expect(try await stage.ask("POST", symmetricKey, symmetricKeyBody).status == 200)
            #expect(try await stage.ask("POST", decrypt, try decryptBody(payment: 3)).status == 200)
            #expect(stage.custodian.reads.withLock { $0 }.count == 3)
        }
    }

    @Test func `a cached EC key is used on the event loop, and any other key is not`() async throws {
        let (hash, rsa) = (stage.addKey(key: key), stage.addKey(algorithm: .rsaV1))
        var limits = Limits()
        limits.waitingRequests = 1
        try await stage.serve(limits: limits) { _ in
            let target = "/v1/keys/\(hash.base64URL)/symmetric-key"
            #expect(try await stage.ask("POST", target, symmetricKeyBody).status == 200)
            let gate = stage.closeGate()
            let path = stage.socketPath
            let body = symmetricKeyBody
            let custodian = stage.custodian
            let statuses = try await stage.blocking {
                // From now on, a request that needs another thread is refused.
                let slow = try SocketClient(path)
                slow.send(Stage.slowRequest(rsa))
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
