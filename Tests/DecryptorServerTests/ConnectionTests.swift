import DecryptorServer
import FoundationEssentials
import Glibc
import Testing
import Vocabulary

@Suite("Connections")
struct ConnectionTests {
    let server = DecryptorTestServer()

    @Test("The socket has its mode, and curl can use it")
    func curl() async throws {
        let hash = server.addKey()
        try await server.serve { _ in
            var found = stat()
            #expect(stat(server.socketPath, &found) == 0)
            #expect(found.st_mode & 0o7777 == 0o660)
            #expect(found.st_mode & S_IFMT == S_IFSOCK)
            let path = server.socketPath
            let output = try await server.blocking {
                let command =
                    "curl -sS --http2 --unix-socket \(path) http://localhost/v1/keys/\(hash.base64URL) -w ' %{http_code}' 2>&1"
                guard let pipe = popen(command, "r") else { return "" }
                defer { pclose(pipe) }
                var buffer = [UInt8](repeating: 0, count: 65_536)
                return String(decoding: buffer[..<fread(&buffer, 1, buffer.count, pipe)], as: UTF8.self)
            }
            #expect(output.hasSuffix(" 200"))
            #expect(output.contains(hash.base64))
        }
        #expect(access(server.socketPath, F_OK) != 0)
    }

    @Test("Pipelined requests are answered in the order of the requests, also where a slow one precedes a quick one")
    func order() async throws {
        let rsa = server.addKey(algorithm: .rsaV1)
        let keys = (0..<30).map { _ in server.addKey() }
        let slow = DecryptorTestServer.slowRequest(rsa)
        try await server.serve { _ in
            let gate = server.closeGate()
            let text = keys.enumerated().map { index, hash in
                (index % 7 == 0 ? slow : "") + SocketClient.request("GET", "/v1/keys/\(hash.base64URL)")
                    + SocketClient.request("GET", "/v1/nothing/\(index)")
            }.joined()
            let replies = try await server.client { client in
                client.send(text)
                gate.awaitArrivals(1)
                gate.open()
                return try (0..<65).map { _ in try client.reply() }
            }
            var expected: [String] = []
            for (index, hash) in keys.enumerated() {
                if index % 7 == 0 { expected.append("symmetricKey") }
                expected += [hash.base64, "notFound"]
            }
            #expect(replies.count == expected.count)
            for (reply, word) in zip(replies, expected) { #expect(reply?.text.contains(word) == true) }
        }
    }

    @Test("At the limit of unanswered requests nothing more is read until some are answered")
    func backpressure() async throws {
        let rsa = server.addKey(algorithm: .rsaV1)
        let hash = server.addKey()
        let slow = DecryptorTestServer.slowRequest(rsa)
        var limits = Limits()
        limits.pipelinedRequests = 1
        try await server.serve(limits: limits) { _ in
            let gate = server.closeGate()
            let (isFull, statuses) = try await server.client { client in
                client.send(slow)
                // More than the buffers of a socket: the client can send all of it only if the server continues to read.
                let request = SocketClient.request("GET", "/v1/keys/\(hash.base64URL)")
                let sent = client.sendWithoutWaiting(
                    String(repeating: request, count: 20_000), until: .milliseconds(300))
                gate.open()
                guard try client.reply()?.status == 200 else { return (false, [Int]()) }
                let whole = sent / request.utf8.count
                return (
                    sent < 20_000 * request.utf8.count, try (0..<whole).compactMap { _ in try client.reply()?.status }
                )
            }
            #expect(isFull)
            #expect(statuses.count > 100)
            #expect(statuses.allSatisfy { $0 == 200 })
        }
    }

    @Test("A client that closes its sending side still gets every response before the connection is closed")
    func halfClosed() async throws {
        let rsa = server.addKey(algorithm: .rsaV1)
        let slow = DecryptorTestServer.slowRequest(rsa)
        try await server.serve { _ in
            let gate = server.closeGate()
            let replies = try await server.client { client in
                client.send(slow + SocketClient.request("GET", "/v1/health"))
                client.finishSending()
                gate.awaitArrivals(1)
                gate.open()
                return try (0..<3).map { _ in try client.reply() }
            }
            #expect(replies.map { $0?.status } == [200, 200, nil])
            #expect(replies[1]?.fields["connection"] == "close")
        }
    }

    @Test(
        "A request that asks to close the connection is answered first",
        arguments: [
            "GET /v1/health HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n", "GET /v1/health HTTP/1.0\r\n\r\n",
            "GET /v1/health HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        ])
    func closes(text: String) async throws {
        try await server.serve { _ in
            let replies = try await server.client { client in
                client.send(text + SocketClient.request("GET", "/v1/health"))
                return [try client.reply(), try client.reply()]
            }
            #expect(replies[0]?.status == 200)
            #expect(replies[0]?.fields["connection"] == "close")
            #expect(replies[1] == nil)
        }
    }

    @Test("A client that waits for 100 Continue gets it")
    func expectContinue() async throws {
        let rsa = server.addKey(algorithm: .rsaV1)
        try await server.serve { _ in
            let replies = try await server.client { client in
                client.send(
                    "POST /v1/keys/\(rsa.base64URL)/symmetric-key HTTP/1.1\r\nHost: d\r\nExpect: 100-continue\r\nContent-Length: \(DecryptorTestServer.wrappedKey.utf8.count)\r\n\r\n"
                )
                let interim = try client.reply()
                client.send(DecryptorTestServer.wrappedKey)
                return [interim, try client.reply()]
            }
            #expect(replies.map { $0?.status } == [100, 200])
        }
    }
}
