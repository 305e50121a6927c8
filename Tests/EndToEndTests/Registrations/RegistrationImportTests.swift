import Foundation
import MerchantTestSupport
import Testing

/// `registration import` to a gateway over mutual TLS.
@Suite struct RegistrationImportTests {
    static let merchants = 120

    let installation: Installation
    let file: String
    var report: String { "\(file).report.jsonl" }

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        let rows = (0..<Self.merchants).map { "shop-\($0),Shop \($0),shop\($0).example www.shop\($0).example" }
        file = try installation.write(
            (["partnerInternalMerchantIdentifier,partnerMerchantName,domainNames"] + rows).joined(separator: "\n")
                + "\n", "merchants.csv")
    }

    /// Starts a gateway and a daemon that uses it.
    private func start(_ options: String...) throws -> TestServer {
        let server = try AppleServer.sandbox.start(for: installation, options)
        try installation.identityFiles("good")
        try installation.start(config: installation.gatewaySettings(server.announced, identity: "good"))
        #expect(try installation.ctl("merchant", "add", Installation.integrator).status == 0)
        return server
    }

    private func expectAllRegistered() throws {
        let registered = try installation.registeredAtApple()
        #expect(registered.count == Self.merchants)
        #expect(registered["shop-7"] == ["shop7.example", "www.shop7.example"])
        #expect(try installation.ctlJSON("registration", "sync")["compared"] as? Int == Self.merchants)
    }

    @Test func `an import keeps to Apple's rate limit: every merchant is registered, and few requests are refused`()
        throws
    {
        let server = try start("--rate-limit", "40")
        let begin = ContinuousClock.now
        let done = try installation.ctlJSON("registration", "import", file)
        let seconds = Int((ContinuousClock.now - begin).components.seconds) + 5
        #expect(done["done"] as? Int == Self.merchants, "\(done)")
        try expectAllRegistered()
        let limit = try #require(try installation.control("/statistics")["limit"] as? [String: Int])
        // In each second, Apple refuses at most the 16 requests that were sent before the first 429 response arrived.
        #expect(try #require(limit["refused"]) > 0 && limit["refused", default: 0] <= 16 * seconds, "\(limit) \(done)")
        withExtendedLifetime(server) {}
    }

    @Test(.timeLimit(.minutes(2)))
    func `while Apple is unreachable an import says that it waits, and one signal ends the wait`() throws {
        let server = try start()
        server.stop()
        let error = installation.path("import.error")
        let process = try installation.startCtl(["registration", "import", file], error: error)
        try installation.eventually("the import announces a long pause", within: .seconds(60)) {
            try String(contentsOfFile: error, encoding: .utf8).contains(/waiting [2-9][0-9] s/)
        }
        let announced = ContinuousClock.now
        process.signal(SIGINT)
        #expect(process.wait() == .exited(1))
        let output = try String(contentsOfFile: error, encoding: .utf8)
        let pause = try #require(output.firstMatch(of: /waiting ([2-9][0-9]) s/).flatMap { Int($0.1) }, "\(output)")
        #expect(ContinuousClock.now - announced < .seconds(pause) && output.contains("interrupted"), "\(output)")
    }

    @Test func `an import that was killed resumes after the merchants in its report`() throws {
        let server = try start("--rate-limit", "40")
        let process = try installation.startCtl("registration", "import", file)
        try installation.eventually("more than 20 merchants are in the report") { try lineCount() > 20 }
        process.killAndWait()
        let before = try lineCount()
        #expect(before < Self.merchants)

        let rest = try installation.ctlJSON("registration", "import", file)
        #expect(rest["skipped"] as? Int == before, "\(rest)")
        #expect(rest["done"] as? Int == Self.merchants - before && rest["notTried"] as? Int == 0, "\(rest)")
        try expectAllRegistered()
        let again = try installation.ctlJSON("registration", "import", file)
        #expect(again["skipped"] as? Int == Self.merchants && again["done"] as? Int == 0)
        withExtendedLifetime(server) {}
    }

    /// The number of lines in the report without its header.
    private func lineCount() throws -> Int {
        guard let text = try? String(contentsOfFile: report, encoding: .utf8) else { return 0 }
        return text.utf8.count { $0 == UInt8(ascii: "\n") } - 1
    }
}
