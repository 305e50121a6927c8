import AppleGateway
import Foundation
import FoundationNetworking
import MerchantTestSupport
import NIOHTTP1
import Testing

/// The contract of the URLProtocol, held against an HTTPS server.
@Suite struct TransportTests {
    let bench: Bench

    init() throws { bench = try Bench.shared.get() }

    private static func request(
        _ port: Int, _ path: String = "/x", body: Data? = nil, timeout: Double = 10
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://localhost:\(port)\(path)")))
        request.timeoutInterval = timeout
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
        }
        return request
    }

    private func failure(_ body: () async throws(TransportFailure) -> Void) async -> TransportFailure? {
        do throws(TransportFailure) {
            try await body()
            return nil
        } catch { return error }
    }

    private func withTransport(
        limits: SecureTransport.Limits = .init(), connect: Duration = .seconds(5),
        _ body: (SecureTransport) async throws -> Void
    ) async throws {
        let transport = try bench.transport(connect: connect, limits: limits)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(transport)) } catch { outcome = .failure(error) }
        await transport.shutdown()
        try outcome.get()
    }

    @Test func `method, path, headers and body arrive as set, and come back as sent`() async throws {
        try await withSite(bench) { request in
            .answer(
                418,
                [
                    "X-Method": request.head.method.rawValue, "X-URI": request.head.uri,
                    "X-Echo": request.head.headers["X-Say"].joined(),
                    "X-Cookie": request.head.headers["Cookie"].joined(),
                    "Set-Cookie": "a=b", "X-Names": request.head.headers.map(\.name).sorted().joined(separator: " "),
                ], request.body)
        } _: { site in
            try await withTransport { transport in
                var request = try Self.request(site.port, "/a%2Fb/%7C%2B?q=1", body: Data("hello".utf8))
                request.httpMethod = "PUT"
                request.setValue("some text", forHTTPHeaderField: "X-Say")
                for _ in 0..<2 {
                    let (data, response) = try await transport.data(for: request)
                    #expect(response.statusCode == 418)
                    #expect(response.value(forHTTPHeaderField: "X-Method") == "PUT")
                    #expect(response.value(forHTTPHeaderField: "X-URI") == "/a%2Fb/%7C%2B?q=1")
                    #expect(response.value(forHTTPHeaderField: "X-Echo") == "some text")
                    // Nothing of our own was added.
                    #expect(response.value(forHTTPHeaderField: "X-Names") == "Content-Length X-Say host")
                    // No cookie is kept between the two.
                    #expect(response.value(forHTTPHeaderField: "X-Cookie") == "")
                    #expect(data == Data("hello".utf8))
                }
                #expect(site.connections == 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `bodies up to the limits pass both ways, from data and from a stream`(isStream: Bool) async throws {
        let size = 1 << 20
        try await withSite(bench) {
            .answer(200, [:], $0.body.reversed())
        } _: { site in
            try await withTransport { transport in
                let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
                var request = try Self.request(site.port, body: isStream ? Data() : body)
                if isStream {
                    request.httpBody = nil
                    request.httpBodyStream = InputStream(data: body)
                }
                let (data, _) = try await transport.data(for: request)
                #expect(data.elementsEqual(body.reversed()))
            }
        }
    }

    @Test func `a body over the limit is refused before it leaves`() async throws {
        try await withSite(bench) { _ in
            .answer(200, [:], [])
        } _: { site in
            try await withTransport { transport in
                let request = try Self.request(site.port, body: Data(count: (1 << 20) + 1))
                let failure = await failure { () throws(TransportFailure) in _ = try await transport.data(for: request)
                }
                #expect(failure == .requestTooLarge(limit: 1 << 20))
                #expect(site.connections == 0)
            }
        }
    }

    @Test(arguments: [[:], ["Transfer-Encoding": "chunked"]])
    func `an answer over the limit is refused, announced or not`(headers: [String: String]) async throws {
        try await withSite(bench) { request in
            .answer(200, headers, [UInt8](repeating: 1, count: request.head.uri == "/small" ? 10 : (1 << 20) + 1))
        } _: { site in
            try await withTransport { transport in
                let large = try Self.request(site.port, "/large")
                let failure = await failure { () throws(TransportFailure) in _ = try await transport.data(for: large) }
                #expect(failure == .answerTooLarge(limit: 1 << 20))
                // The transport goes on.
                #expect(try await transport.data(for: Self.request(site.port, "/small")).0.count == 10)
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is an answer and is not followed`(status: Int) async throws {
        try await withSite(bench) { request in
            .answer(status, ["Location": "https://\(request.head.headers["Host"].joined())/other"], [])
        } _: { site in
            try await withTransport { transport in
                let (_, response) = try await transport.data(for: Self.request(site.port))
                #expect(response.statusCode == status)
                #expect(site.connections == 1)
            }
        }
    }

    @Test func `a 401 that asks for a password is an answer`() async throws {
        try await withSite(bench) { _ in
            .answer(401, ["WWW-Authenticate": "Basic realm=\"x\""], Array("no".utf8))
        } _: { site in
            try await withTransport { transport in
                let (data, response) = try await transport.data(for: Self.request(site.port))
                #expect(response.statusCode == 401)
                #expect(data == Data("no".utf8))
            }
        }
    }

    @Test func `time that is up is told, with the request sent`() async throws {
        try await withSite(bench) { _ in
            .nothing
        } _: { site in
            try await withTransport { transport in
                let request = try Self.request(site.port, timeout: 0.3)
                let failure = await failure { () throws(TransportFailure) in _ = try await transport.data(for: request)
                }
                #expect(failure == .timedOut(seconds: 1, didSend: true))
            }
        }
    }

    @Test func `a cancelled task ends at once, and its connection too`() async throws {
        try await withSite(bench) { _ in
            .nothing
        } _: { site in
            try await withTransport { transport in
                let request = try Self.request(site.port, timeout: 60)
                let begun = ContinuousClock.now
                let task = Task {
                    await failure { () throws(TransportFailure) in _ = try await transport.data(for: request) }
                }
                // Waiting for another thread's connection: there is no clock of ours to move.
                while site.connections == 0 { try await Task.sleep(for: .milliseconds(5)) }
                task.cancel()
                // The connection may be there a moment before the request is on it.
                let ending = await task.value
                #expect(
                    ending == .cancelled(didSend: true) || ending == .cancelled(didSend: false),
                    "\(String(describing: ending))")
                #expect(begun.duration(to: .now) < .seconds(30))
            }
        }
    }

    @Test func `cancelling in the moment of the answer harms nobody`() async throws {
        try await withSite(bench) {
            .answer(200, [:], $0.body)
        } _: { site in
            try await withTransport { transport in
                let request = try Self.request(site.port, body: Data("x".utf8), timeout: 60)
                var answered = 0
                for number in 0..<300 {
                    let task = Task {
                        await failure { () throws(TransportFailure) in _ = try await transport.data(for: request) }
                    }
                    // From before the start to after the end of what takes about a third of a millisecond.
                    try await Task.sleep(for: .microseconds(number * 4))
                    task.cancel()
                    let outcome = await task.value
                    switch outcome {
                    case nil: answered += 1
                    case .cancelled: break
                    default: Issue.record("\(String(describing: outcome))")
                    }
                }
                #expect(try await transport.data(for: request).0 == Data("x".utf8))
                #expect(answered < 300)
            }
        }
    }

    @Test func `a connection that is reset or ends in the middle is told as an answer lost`() async throws {
        try await withSite(bench) { request in
            request.head.uri == "/reset" ? .reset : .half([UInt8](repeating: 7, count: 1000))
        } _: { site in
            try await withTransport { transport in
                for path in ["/reset", "/half"] {
                    let request = try Self.request(site.port, path, body: Data("x".utf8))
                    let failure = await failure { () throws(TransportFailure) in
                        _ = try await transport.data(for: request)
                    }
                    guard case .answerLost = failure else {
                        Issue.record("\(path): \(String(describing: failure))")
                        continue
                    }
                }
            }
        }
    }

    @Test func `bytes that are not HTTP are told as such`() async throws {
        try await withSite(bench) { _ in
            .bytes(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8))
        } _: { site in
            try await withTransport { transport in
                let request = try Self.request(site.port)
                let failure = await failure { () throws(TransportFailure) in _ = try await transport.data(for: request)
                }
                guard case .notHTTP = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
            }
        }
    }

    @Test func `where nobody listens, nothing left`() async throws {
        let site = try await TestSite(bench) { _ in .answer(200, [:], []) }
        await site.stop()
        try await withTransport { transport in
            let request = try Self.request(site.port)
            let failure = await failure { () throws(TransportFailure) in _ = try await transport.data(for: request) }
            #expect(failure == .unreachable("Connection refused (port \(site.port))"))
        }
    }

    @Test func `2,000 requests over 16 tasks each get their own answer, on few connections`() async throws {
        try await withSite(bench) {
            .answer(200, [:], $0.body)
        } _: { site in
            try await withTransport { transport in
                let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
                    for task in 0..<16 {
                        group.addTask {
                            var wrong = 0
                            for number in 0..<125 {
                                let body = Data("\(task)/\(number)".utf8)
                                let (data, response) = try await transport.data(
                                    for: Self.request(site.port, body: body, timeout: 60))
                                if data != body || response.statusCode != 200 { wrong += 1 }
                            }
                            return wrong
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(wrong == 0)
                #expect(site.connections <= 16)
            }
        }
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `thousands of requests leave neither descriptors nor memory behind`() async throws {
        try await withSite(bench) {
            .answer(200, [:], $0.body)
        } _: { site in
            try await withTransport { transport in
                let request = try Self.request(site.port, body: Data(count: 1000), timeout: 60)
                func ask(_ count: Int) async throws {
                    for _ in 0..<count { _ = try await transport.data(for: request) }
                }
                try await ask(2000)
                // What leaks does so in each round; what the rest of this process opens and keeps, it does in one or another.
                var (descriptors, kilobytes) = (Int.max, Int.max)
                for _ in 1...3 {
                    let before = try Self.use()
                    try await ask(4000)
                    let after = try Self.use()
                    descriptors = min(descriptors, after.descriptors - before.descriptors)
                    kilobytes = min(kilobytes, after.kilobytes - before.kilobytes)
                }
                #expect(descriptors <= 2)
                // Half a kilobyte a request: what each one needs is some ten times that.
                #expect(kilobytes < 2000)
            }
        }
    }

    private static func use() throws -> (descriptors: Int, kilobytes: Int) {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return (
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
            try #require(Int(line.split(separator: " ").dropFirst().first ?? ""))
        )
    }
}
