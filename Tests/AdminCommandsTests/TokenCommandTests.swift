import Foundation
import MerchantKeyClient
import Synchronization
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl token, and the decryptor's client")
struct TokenCommandTests {
    /// Runs `body` with a fake daemon on `socket` and the path of a token file.
    private static func with(
        socket: String = "decryptor.sock",
        _ answer: @escaping @Sendable (FakeDaemon.Request) throws -> FakeDaemon.Reply,
        _ body: (Program, FakeDaemon, _ token: String) async throws -> Void
    ) async throws {
        let program = try Program()
        defer { program.remove() }
        let daemon = try FakeDaemon(in: program.directory, named: socket, answer)
        defer { daemon.stop() }
        try await body(
            program, daemon, try program.write(#"{"paymentData":\#(Samples.paymentData)}"#, to: "token.json"))
    }

    private static func decrypted() -> FakeDaemon.Reply {
        let plaintext = Data(Samples.plaintext.utf8).base64EncodedString()
        return .text(
            #"{"paymentData":\#(Samples.plaintext),"plaintext":"\#(plaintext)","verification":{"verified":false,"checks":[{"check":"signature","outcome":"notChecked","finding":"not asked for"}]},"publicKeyHash":"\#(Samples.hash)","merchantIdentifier":"merchant.com.example"}"#
        )
    }

    @Test("--raw prints the plaintext byte for byte; the token is sent to the decryptor socket beside the admin socket")
    func raw() async throws {
        try await Self.with({ _ in Self.decrypted() }) { program, daemon, token in
            let transcript = try await program.run(
                ["token", "decrypt", token, "--unverified", "--raw", "--socket", program.path("admin.sock")])
            #expect(transcript == .init(status: 0, output: Samples.plaintext, error: ""))
            let request = try #require(daemon.requests.first)
            #expect(request.target == "/v1/payment-tokens/decrypt")
            #expect(request.text.hasPrefix(#"{"paymentData":\#(Samples.paymentData),"#))
            let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
            #expect(body["expected"] as? [String: String] == ["merchantIdentifier": "any"])
            #expect(body["verify"] as? Bool == false)
            #expect(body["claim"] as? Bool == false, "the default of the daemon is to claim")
            #expect(body.count == 4)
        }
    }

    @Test("The table shows only the last four digits of the account number, and no cryptogram")
    func masked() async throws {
        try await Self.with({ _ in Self.decrypted() }) { program, daemon, token in
            let transcript = try await program.run(
                [
                    "token", "decrypt", token, "--merchant", "merchant.a", "--at", "2026-11-21T04:53:15+01:00",
                    "--decryptor-socket", daemon.socketPath,
                ])
            #expect(transcript.status == 0)
            #expect(transcript.output.contains("applicationPrimaryAccountNumber      ************0075\n"))
            for secret in ["478400", "x2gvNsA"] { #expect(!transcript.output.contains(secret)) }
            let request = try #require(daemon.requests.first)
            let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
            #expect(body["expected"] as? [String: String] == ["merchantIdentifier": "merchant.a"])
            #expect(body["receivedAt"] as? String == "2026-11-21T03:53:15Z")
            #expect(body["claim"] as? Bool == false, "the default of the daemon is to claim")
            #expect(body.count == 4)
        }
    }

    @Test("applicationData is sent as the file's original bytes, with --unverified too")
    func applicationData() async throws {
        try await Self.with({ _ in Self.decrypted() }) { program, daemon, token in
            let file = try program.write("order 7\r\n\u{0}", to: "data")
            let common = ["token", "decrypt", token, "--decryptor-socket", daemon.socketPath]
            for more in [[], ["--unverified"]] {
                let run = try await program.run(common + ["--application-data", file] + more)
                #expect(run.status == 0, "\(run)")
                let body = try #require(daemon.requests.last?.body)
                let sent = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
                let expected = try #require(sent["expected"] as? [String: String])
                #expect(expected["applicationData"] == Data("order 7\r\n\u{0}".utf8).base64EncodedString())
            }
            #expect(try await program.run(common + ["--application-data", program.path("none")]).status == 1)
            #expect(try await program.run(["token", "decrypt", "-", "--application-data", "-"]).status == 2)
        }
    }

    @Test func `an amount and a currency are sent as minor units and digits`() async throws {
        try await Self.with({ _ in Self.decrypted() }) { program, daemon, token in
            let common = ["token", "decrypt", token, "--decryptor-socket", daemon.socketPath]
            for (options, code, amount) in [
                (["--amount", "12.34", "--currency", "EUR"], "978", 1234),
                (["--amount", "12.3", "--currency", "978"], "978", 1230),
                (["--amount", "500", "--currency", "jpy"], "392", 500),
                (["--amount", "1.234", "--currency", "KWD"], "414", 1234), (["--currency", "AUD"], "036", nil),
            ] as [([String], String, Int?)] {
                let run = try await program.run(common + options)
                #expect(run.status == 0, "\(run)")
                let body = try #require(daemon.requests.last?.body)
                let sent = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
                let expected = try #require(sent["expected"] as? [String: Any])
                #expect(expected["currencyCode"] as? String == code)
                #expect(expected["transactionAmount"] as? Int == amount)
            }
            let requestCount = daemon.requests.count
            for options in [
                ["--amount", "12.34"], ["--amount", "12.345", "--currency", "EUR"],
                ["--amount", "5.0", "--currency", "JPY"], ["--amount", "12,34", "--currency", "EUR"],
                ["--amount", "-1", "--currency", "EUR"], ["--amount", ".5", "--currency", "EUR"],
                ["--amount", "12345678901234567.00", "--currency", "EUR"], ["--currency", "XXX"],
                ["--currency", "97"], ["--currency", ""],
            ] {
                #expect(try await program.run(common + options).status == 2, "\(options)")
            }
            #expect(daemon.requests.count == requestCount)
        }
    }

    @Test("Only a claim has an Idempotency-Key, and is repeated with the same key if no response arrives")
    func claims() async throws {
        let losses = Mutex(1)
        try await Self.with({ _ in
            var reply = Self.decrypted()
            reply.isLost = losses.withLock { losses in
                losses -= 1
                return losses >= 0
            }
            return reply
        }) { program, daemon, token in
            func decrypt(_ more: String...) async throws -> Program.Transcript {
                try await program.run(["token", "decrypt", token, "--decryptor-socket", daemon.socketPath] + more)
            }
            #expect(try await decrypt("--claim").status == 0)
            let names = daemon.requests.map { $0.headers["idempotency-key"] }
            #expect(names.count == 2 && names[0] == names[1] && names[0]?.count == 36)
            #expect(try await decrypt("--claim").status == 0)
            #expect(try await decrypt().status == 0)
            let later = daemon.requests.dropFirst(2).map { $0.headers["idempotency-key"] }
            #expect(later.count == 2 && later[0] != names[0] && later[1] == nil)
            losses.withLock { $0 = 2 }
            let gone = try await decrypt("--claim", "--idempotency-key", "mine-1")
            #expect(gone.status == 3 && gone.error.contains("add --idempotency-key mine-1"), "\(gone)")
            #expect(try await decrypt("--idempotency-key", "mine-1").status == 2)
        }
    }

    @Test("A refused token causes exit status 1, and the message says why")
    func refused() async throws {
        try await Self.with({ _ in .problem(410, "keyRevoked", "the key was revoked") }) { program, daemon, token in
            let transcript = try await program.run(["token", "decrypt", token, "--decryptor-socket", daemon.socketPath])
            #expect(transcript.status == 1)
            #expect(transcript.error.hasPrefix("refused: keyRevoked: the key was revoked"))
        }
    }

    @Test(
        "token verify prints the checks, and exits with status 1 if the token does not verify",
        arguments: [(true, 0), (false, 1)] as [(Bool, Int32)])
    func verify(verified: Bool, status: Int32) async throws {
        try await Self.with({ _ in
            .text(
                #"{"verified":\#(verified),"checks":[{"check":"chain","outcome":"failed","finding":"x"}]}"#)
        }) { program, daemon, token in
            let transcript = try await program.run(
                ["token", "verify", "-", "--decryptor-socket", daemon.socketPath],
                input: .bytes(try String(contentsOfFile: token, encoding: .utf8)))
            #expect(transcript.status == status)
            #expect(transcript.output == "CHECK  OUTCOME  FINDING\nchain  failed   x\n")
            #expect(daemon.requests.first?.text == #"{"paymentData":\#(Samples.paymentData)}"#)
        }
    }

    @Test("Inspect names the stored key, and needs no daemon to read the token")
    func inspect() async throws {
        try await Self.with(socket: "admin.sock", { _ in try .json(Samples.key(state: .retiring)) }) {
            program, daemon, token in
            let found = try await program.run(["token", "inspect", token, "--socket", daemon.socketPath])
            #expect(found.status == 0)
            #expect(found.output.contains("retiring, of merchant.com.example"))
            let alone = try await program.run(["--output", "json", "token", "inspect", token])
            #expect(alone.status == 0)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(alone.output.utf8)) as? [String: Any])
            #expect(json["publicKeyHash"] as? String == Samples.hash)
            #expect((json["storedKeyUnknown"] as? String)?.contains("can't reach the daemon") == true)
        }
    }

    @Test("A token that would add fields to the daemon's request is refused before it is sent")
    func smuggling() async throws {
        try await Self.with({ _ in Self.decrypted() }) { _, daemon, _ in
            let client = DecryptorClient(socketPath: daemon.socketPath)
            for text in [#"{},"verify":false,"x":{}"#, #"{}}"#, "[]", "", "{\"a\":1,\"a\":2}"] {
                await #expect(throws: ClientError.self) {
                    try await client.decrypt(Array(text.utf8), expecting: .init(merchant: .any), claim: false)
                }
            }
            await client.shutdown()
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("The client resolves a key, restores a symmetric key, and decrypts a token with the expected values")
    func client() async throws {
        try await Self.with(
            socket: "A dir+ü%.sock",
            { request in
                switch request.target {
                case let target where target.hasSuffix("/symmetric-key"):
                    return .text(
                        #"{"symmetricKey":"\#(Data(repeating: 7, count: 32).base64EncodedString())"}"#)
                case "/v1/payment-tokens/decrypt": return Self.decrypted()
                default:
                    return try .json(
                        ResolvedKeyDocument(
                            .init(stringLiteral: Samples.hash), of: "merchant.a", algorithm: .ecV1, state: .current,
                            certificate: "", validFrom: Samples.time, to: Samples.time))
                }
            }
        ) { _, daemon, _ in
            try await DecryptorClient.with(socketPath: daemon.socketPath) { client in
                #expect(try await client.resolve("../ä").merchantIdentifier == "merchant.a")
                let key = try await client.symmetricKey(of: Samples.hash, ephemeralPublicKey: "BQ==")
                #expect(key == Array(repeating: 7, count: 32))
                let token = try await client.decrypt(
                    Array(Samples.paymentData.utf8),
                    expecting: .init(
                        merchant: .named("merchant.a"), currencyCode: "840", transactionAmount: 100,
                        applicationData: [1]),
                    claim: true, idempotencyKey: "attempt-1")
                #expect(token.plaintext == Array(Samples.plaintext.utf8))
                #expect(!token.isVerified && token.checks.count == 1)
            }
            #expect(daemon.requests.map(\.target).first == "/v1/keys/%2E%2E%2F%C3%A4")
            let last = try #require(daemon.requests.last)
            #expect(last.headers["idempotency-key"] == "attempt-1")
            #expect(last.text.contains(#""transactionAmount":100"#) && last.text.contains(#""applicationData":"AQ==""#))
        }
    }

    @Test("A response of more than 16 MiB is refused")
    func endless() async throws {
        try await Self.with({ _ in .text(String(repeating: " ", count: (16 << 20) + 1)) }) { _, daemon, _ in
            let client = DecryptorClient(socketPath: daemon.socketPath)
            await #expect(throws: ClientError.protocolViolation("the response has more than 16777216 bytes")) {
                try await client.resolve(Samples.hash)
            }
            await client.shutdown()
        }
    }
}
