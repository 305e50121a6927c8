import Foundation
import Synchronization
import Testing
import Vocabulary
import WireAPI

/// `key list`, `certificate list` and `merchant list` with filters, and `status --watch`.
@Suite struct ListCommandTests {
    private static func key(_ hash: String, _ state: KeyState, daysLeft: Int) -> KeyDocument {
        var key = Samples.key(hash, state: state)
        let end = Timestamp(Date()).adding(.seconds(daysLeft * 86_400))
        key.notAfter = end
        key.certificates = [
            CertificateDocument(
                pem: "PEM", fingerprint: String(repeating: hash == Samples.hash ? "aa" : "bb", count: 32),
                identification: (subject: "CN=S", issuer: "CN=I", serialNumber: "0\(daysLeft)"),
                validFrom: Samples.time, to: end, storedAt: Samples.time)
        ]
        return key
    }

    private static func items(_ transcript: Program.Transcript) throws -> [[String: any Sendable]] {
        let document = try JSONSerialization.jsonObject(with: Data(transcript.output.utf8)) as? [String: any Sendable]
        return try #require(document?["items"] as? [[String: any Sendable]], "\(transcript)")
    }

    @Test func `the keys of all merchants are listed by state, or by expiry`() async throws {
        try await FakeDaemon.with({ request in
            let isExpiry = request.target.contains("endingBefore=")
            return try .json(
                Page(items: isExpiry ? [Self.key(Samples.hash, .current, daysLeft: 5)] : [], nextCursor: nil))
        }) { program, daemon in
            let list = ["key", "list", "--output", "json", "--socket", daemon.socketPath]
            #expect(try await Self.items(program.run(list)).isEmpty)
            #expect(
                daemon.requests.map(\.target) == KeyState.allCases.map { "/v1/keys?state=\($0)&limit=500" })
            #expect(try await Self.items(program.run(list + ["--state", "revoked"])).isEmpty)
            #expect(daemon.requests.last?.target == "/v1/keys?state=revoked&limit=500")
            let found = try await Self.items(program.run(list + ["--ending-within", "30d", "--state", "current"]))
            #expect(found.map { $0["publicKeyHash"] as? String } == [Samples.hash])
            let target = try #require(daemon.requests.last?.target)
            #expect(target.hasPrefix("/v1/keys?endingBefore=20") && target.hasSuffix("&state=current&limit=500"))
            let none = try await program.run(list + ["--ending-within", "30d", "--state", "pending"])
            #expect(none.status == 2)
        }
    }

    @Test func `the keys of one merchant are filtered by state and expiry, in both output forms`() async throws {
        let keys = [
            Self.key(Samples.hash, .current, daysLeft: 5), Self.key(Samples.otherHash, .standby, daysLeft: 50),
        ]
        try await FakeDaemon.with({ _ in try .json(Page(items: keys, nextCursor: nil)) }) { program, daemon in
            let list = ["key", "list", "merchant.com.example", "--socket", daemon.socketPath]
            for (options, expected) in [
                ([], [Samples.hash, Samples.otherHash]), (["--state", "standby"], [Samples.otherHash]),
                (["--ending-within", "30d"], [Samples.hash]), (["--ending-within", "1d"], []),
            ] as [([String], [String])] {
                let json = try await Self.items(program.run(list + options + ["--output", "json"]))
                #expect(json.compactMap { $0["publicKeyHash"] as? String } == expected, "\(options)")
                let table = try await program.run(list + options)
                #expect(table.output.split(separator: "\n").count == expected.count + 1, "\(table)")
            }
            #expect(daemon.requests.allSatisfy { $0.target == "/v1/merchants/merchant.com.example/keys?limit=1000" })
        }
    }

    @Test func `certificates are listed with their keys, earliest expiry first`() async throws {
        let keys = [
            Self.key(Samples.hash, .standby, daysLeft: 50), Self.key(Samples.otherHash, .current, daysLeft: 5),
        ]
        try await FakeDaemon.with({ _ in try .json(Page(items: keys, nextCursor: nil)) }) { program, daemon in
            let list = ["certificate", "list", "merchant.com.example", "--socket", daemon.socketPath]
            let json = try await Self.items(program.run(list + ["--output", "json"]))
            #expect(json.map { $0["publicKeyHash"] as? String } == [Samples.otherHash, Samples.hash])
            #expect(json.map { $0["serialNumber"] as? String } == ["05", "050"])
            #expect(json.allSatisfy { $0["merchantIdentifier"] as? String == "merchant.com.example" })
            #expect(json.map { $0["state"] as? String } == ["current", "standby"])
            let table = try await program.run(list + ["--ending-within", "30d"])
            let lines = table.output.split(separator: "\n")
            #expect(lines.count == 2 && lines[0].hasPrefix("VALID TO (UTC)") && lines[1].contains(Samples.otherHash))
        }
    }

    @Test func `merchant list asks the daemon for the merchants that match`() async throws {
        try await FakeDaemon.with({ _ in try .json(Page(items: [Samples.merchant()], nextCursor: nil)) }) {
            program, daemon in
            let list = ["merchant", "list", "--socket", daemon.socketPath]
            let belowTarget = try await program.run(list + ["--below-target"])
            let withPrefix = try await program.run(list + ["--prefix", "merchant.com", "--below-target"])
            #expect([belowTarget.status, withPrefix.status] == [0, 0])
            #expect(
                daemon.requests.map(\.target) == [
                    "/v1/merchants?belowTarget=true&limit=1000",
                    "/v1/merchants?prefix=merchant%2Ecom&belowTarget=true&limit=1000",
                ])
        }
    }

    @Test func `a time may be given as a duration before now`() async throws {
        try await FakeDaemon.with({ _ in try .json(Page(items: [AuditRecordDocument](), nextCursor: nil)) }) {
            program, daemon in
            let before = Timestamp(Date())
            let list = ["audit", "list", "--socket", daemon.socketPath]
            #expect(try await program.run(list + ["--since", "1h", "--until", "2026-11-21T04:53:15Z"]).status == 0)
            let target = try #require(daemon.requests.last?.target)
            let query = try #require(URLComponents(string: target)?.queryItems)
            let since = try #require(query.first { $0.name == "since" }?.value.flatMap { Timestamp(rfc3339: $0) })
            #expect(since.adding(.seconds(3600)) >= before && since.adding(.seconds(3600)) <= Timestamp(Date()))
            #expect(query.first { $0.name == "until" }?.value == "2026-11-21T04:53:15Z")
            for text in ["yesterday", "1w", "-1h", "99999999999d"] {
                #expect(try await program.run(list + ["--since", text]).status == 2, "\(text)")
            }
        }
    }

    @Test func `status --watch ends when the daemon refuses the request, and retries while its store fails`()
        async throws
    {
        let count = Mutex(0)
        try await FakeDaemon.with({ _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 2: return .problem(503, "storeUnavailable", "later")
            case 4: return .problem(403, "forbidden", "no")
            default: return try .json(Samples.status([]))
            }
        }) { program, daemon in
            let transcript = try await program.run([
                "status", "--watch", "--interval", "1s", "--output", "json", "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 1, "a refusal ends it: \(transcript)")
            let lines = transcript.output.split(separator: "\n")
            #expect(lines.count == 2)
            for line in lines { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
            #expect(transcript.error.contains("retrying") && transcript.error.contains("responds again"))
        }
        let program = try Program()
        defer { program.remove() }
        for wrong in [["--interval", "1s"], ["--watch", "--interval", "0s"]] {
            #expect(try await program.run(["status"] + wrong).status == 2)
        }
        // Not the usual status 2 of wrong usage, because a monitoring system understands 2 as critical.
        #expect(try await program.run(["status", "--watch", "--check"]).status == 3)
    }
}
