import AppleGateway
import Foundation
import FoundationNetworking
import MerchantTestSupport
import NIOHTTP1
import OutboundHTTP
import Testing

/// `URLSession` over the outbound HTTP client, with an HTTPS server.
@Suite struct GatewaySessionTests {
    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

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

    private func failure(_ body: () async throws(OutboundFailure) -> Void) async -> OutboundFailure? {
        do throws(OutboundFailure) {
            try await body()
            return nil
        } catch { return error }
    }

    private func withSession(
        _ body: (GatewaySession) async throws -> Void
    ) async throws {
        let session = GatewaySession(client: try fixture.client())
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(session)) } catch { outcome = .failure(error) }
        await session.shutdown()
        try outcome.get()
    }

    @Test func `method, path, headers and body arrive as set, and the response as sent`() async throws {
        try await withSite(fixture) { request in
            .answer(
                418,
                [
                    "X-Method": request.head.method.rawValue, "X-URI": request.head.uri,
                    "X-Echo": request.head.headers["X-Say"].joined(),
                    "X-Cookie": request.head.headers["Cookie"].joined(),
                    "Set-Cookie": "a=b", "X-Names": request.head.headers.map(\.name).sorted().joined(separator: " "),
                ], request.body)
        } _: { site in
            try await withSession { session in
                var request = try Self.request(site.port, "/a%2Fb/%7C%2B?q=1", body: Data("hello".utf8))
                request.httpMethod = "PUT"
                request.setValue("some text", forHTTPHeaderField: "X-Say")
                for _ in 0..<2 {
                    let (data, response) = try await session.data(for: request)
                    #expect(response.statusCode == 418)
                    #expect(response.value(forHTTPHeaderField: "X-Method") == "PUT")
                    #expect(response.value(forHTTPHeaderField: "X-URI") == "/a%2Fb/%7C%2B?q=1")
                    #expect(response.value(forHTTPHeaderField: "X-Echo") == "some text")
                    // The client added only the headers that HTTP requires.
                    #expect(response.value(forHTTPHeaderField: "X-Names") == "Content-Length X-Say host")
                    // No cookie is kept for the second request.
                    #expect(response.value(forHTTPHeaderField: "X-Cookie") == "")
                    #expect(data == Data("hello".utf8))
                }
                #expect(site.connections == 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `bodies of the largest size pass in both directions, from data or a stream`(isStream: Bool) async throws {
        let size = 1 << 20
        try await withSite(fixture) {
            .answer(200, [:], $0.body.reversed())
        } _: { site in
            try await withSession { session in
                let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
                var request = try Self.request(site.port, body: isStream ? Data() : body)
                if isStream {
                    request.httpBody = nil
                    request.httpBodyStream = InputStream(data: body)
                }
                let (data, _) = try await session.data(for: request)
                #expect(data.elementsEqual(body.reversed()))
            }
        }
    }

    @Test func `a body over the limit is refused before it is sent`() async throws {
        try await withSite(fixture) { _ in
            .answer(200, [:], [])
        } _: { site in
            try await withSession { session in
                let request = try Self.request(site.port, body: Data(count: (1 << 20) + 1))
                let failure = await failure { () throws(OutboundFailure) in _ = try await session.data(for: request)
                }
                #expect(failure == .requestTooLarge(limit: 1 << 20))
                #expect(site.connections == 0)
            }
        }
    }

    @Test(arguments: [[:], ["Transfer-Encoding": "chunked"]])
    func `a response over the limit is refused, with or without a Content-Length`(headers: [String: String])
        async throws
    {
        try await withSite(fixture) { request in
            .answer(200, headers, [UInt8](repeating: 1, count: request.head.uri == "/small" ? 10 : (1 << 20) + 1))
        } _: { site in
            try await withSession { session in
                let large = try Self.request(site.port, "/large")
                let failure = await failure { () throws(OutboundFailure) in _ = try await session.data(for: large) }
                #expect(failure == .responseTooLarge(limit: 1 << 20))
                // The session still works.
                #expect(try await session.data(for: Self.request(site.port, "/small")).0.count == 10)
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is returned as a response and not followed`(status: Int) async throws {
        try await withSite(fixture) { request in
            .answer(status, ["Location": "https://\(request.head.headers["Host"].joined())/other"], [])
        } _: { site in
            try await withSession { session in
                let (_, response) = try await session.data(for: Self.request(site.port))
                #expect(response.statusCode == status)
                #expect(site.connections == 1)
            }
        }
    }

    @Test func `a 401 that asks for a password is returned as a response`() async throws {
        try await withSite(fixture) { _ in
            .answer(401, ["WWW-Authenticate": "Basic realm=\"x\""], Array("no".utf8))
        } _: { site in
            try await withSession { session in
                let (data, response) = try await session.data(for: Self.request(site.port))
                #expect(response.statusCode == 401)
                #expect(data == Data("no".utf8))
            }
        }
    }

    @Test func `a timeout is reported, with the information that the request was sent`() async throws {
        try await withSite(fixture) { _ in
            .nothing
        } _: { site in
            try await withSession { session in
                let request = try Self.request(site.port, timeout: 0.3)
                let failure = await failure { () throws(OutboundFailure) in _ = try await session.data(for: request)
                }
                guard case .timedOut(_, isSent: true) = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
            }
        }
    }

    @Test func `a cancelled task ends before its timeout`() async throws {
        try await withSite(fixture) { _ in
            .nothing
        } _: { site in
            try await withSession { session in
                let request = try Self.request(site.port, timeout: 60)
                let begun = ContinuousClock.now
                let task = Task {
                    await failure { () throws(OutboundFailure) in _ = try await session.data(for: request) }
                }
                // The connection is made on another thread, which no test clock controls.
                while site.connections == 0 { try await Task.sleep(for: .milliseconds(5)) }
                task.cancel()
                // The connection may exist shortly before the request is sent on it.
                let ending = await task.value
                #expect(
                    ending == .cancelled(isSent: true) || ending == .cancelled(isSent: false),
                    "\(String(describing: ending))")
                #expect(begun.duration(to: .now) < .seconds(30))
            }
        }
    }

    @Test func `a cancellation while the response arrives does not break the session`() async throws {
        try await withSite(fixture) {
            .answer(200, [:], $0.body)
        } _: { site in
            try await withSession { session in
                let request = try Self.request(site.port, body: Data("x".utf8), timeout: 60)
                var answered = 0
                for number in 0..<300 {
                    let task = Task {
                        await failure { () throws(OutboundFailure) in _ = try await session.data(for: request) }
                    }
                    // A request takes about a third of a millisecond. The delays are from 0 to 1.2 milliseconds.
                    try await Task.sleep(for: .microseconds(number * 4))
                    task.cancel()
                    let outcome = await task.value
                    switch outcome {
                    case nil: answered += 1
                    case .cancelled: break
                    default: Issue.record("\(String(describing: outcome))")
                    }
                }
                #expect(try await session.data(for: request).0 == Data("x".utf8))
                #expect(answered < 300)
            }
        }
    }

    @Test func `a connection that is reset or ends within the response is reported as a lost response`() async throws {
        try await withSite(fixture) { request in
            request.head.uri == "/reset" ? .reset : .half([UInt8](repeating: 7, count: 1000))
        } _: { site in
            try await withSession { session in
                for path in ["/reset", "/half"] {
                    let request = try Self.request(site.port, path, body: Data("x".utf8))
                    let failure = await failure { () throws(OutboundFailure) in
                        _ = try await session.data(for: request)
                    }
                    guard case .responseLost = failure else {
                        Issue.record("\(path): \(String(describing: failure))")
                        continue
                    }
                }
            }
        }
    }

    @Test func `bytes that are not HTTP are reported as such`() async throws {
        try await withSite(fixture) { _ in
            .bytes(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8))
        } _: { site in
            try await withSession { session in
                let request = try Self.request(site.port)
                let failure = await failure { () throws(OutboundFailure) in _ = try await session.data(for: request)
                }
                guard case .notHTTP = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
            }
        }
    }

    @Test func `a refused connection is reported as such, and nothing was sent`() async throws {
        let site = try await TestSite(fixture) { _ in .answer(200, [:], []) }
        await site.stop()
        try await withSession { session in
            let request = try Self.request(site.port)
            let failure = await failure { () throws(OutboundFailure) in _ = try await session.data(for: request) }
            #expect(failure == .unreachable(.connectionRefused(port: site.port)))
        }
    }

    @Test func `2,000 requests over 16 tasks each get their own response, on few connections`() async throws {
        try await withSite(fixture) {
            .answer(200, [:], $0.body)
        } _: { site in
            try await withSession { session in
                let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
                    for task in 0..<16 {
                        group.addTask {
                            var wrong = 0
                            for number in 0..<125 {
                                let body = Data("\(task)/\(number)".utf8)
                                let (data, response) = try await session.data(
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
    func `thousands of requests leak neither descriptors nor memory`() async throws {
        try await withSite(fixture) {
            .answer(200, [:], $0.body)
        } _: { site in
            try await withSession { session in
                let request = try Self.request(site.port, body: Data(count: 1000), timeout: 60)
                func sendRequests(_ count: Int) async throws {
                    for _ in 0..<count { _ = try await session.data(for: request) }
                }
                try await sendRequests(2000)
                // A leak shows in every round. What other tests in this process open shows only in some rounds, so the
                // minimum counts.
                var (descriptors, kilobytes) = (Int.max, Int.max)
                for _ in 1...3 {
                    let before = try Self.resourceUse()
                    try await sendRequests(4000)
                    let after = try Self.resourceUse()
                    descriptors = min(descriptors, after.descriptors - before.descriptors)
                    kilobytes = min(kilobytes, after.kilobytes - before.kilobytes)
                }
                #expect(descriptors <= 2)
                // Half a kilobyte for each of the 4,000 requests: a tenth of the memory that a request needs.
                #expect(kilobytes < 2000)
            }
        }
    }

    private static func resourceUse() throws -> (descriptors: Int, kilobytes: Int) {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return (
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
            try #require(Int(line.split(separator: " ").dropFirst().first ?? ""))
        )
    }
}
