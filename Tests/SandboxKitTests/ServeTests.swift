import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// Starts the real program `applepay-sandbox serve` and calls it with curl.
@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
final class ServeTests: ServedGateway {
    private func registration(_ domains: [String], _ identifier: String = "shop-1") -> String {
        let names = domains.map { "\"\($0)\"" }.joined(separator: ",")
        return
            #"{"partnerInternalMerchantIdentifier":"\#(identifier)","partnerMerchantName":"Shop","encryptTo":"merchant.com.example","domainNames":[\#(names)]}"#
    }

    @Test("A registration survives a restart, is returned in Apple's format, and can be removed")
    func story() throws {
        try start("--port", "0")
        var response = try request("/paymentservices/registerMerchant", registration(["a.example.com"], "a|b"))
        #expect(response.status == 200)
        #expect(response.body == "")
        response = try request("/paymentservices/registerMerchant", registration(["b.example.com"], "a|b"))
        #expect(response.status == 200)
        #expect(stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: path("control")))

        try start()
        response = try request("/paymentservices/merchant/a%7Cb")
        #expect(response.status == 200)
        let details = try #require(
            try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any])
        #expect(details["domainNames"] as? [String] == ["a.example.com", "b.example.com"])
        #expect(details["partnerInternalMerchantIdentifier"] as? String == "a|b")
        #expect(details["delegatedCommerce"] as? [String: Bool] == ["enabled": false])
        let digest = try Programs.run(["sha256sum"], input: "merchant.com.example").output.prefix(64).uppercased()
        #expect(details["encryptTo"] as? String == digest)
        response = try request(
            "/paymentservices/unregisterMerchant",
            #"{"partnerInternalMerchantIdentifier":"a|b","domainNames":["a.example.com","b.example.com"],"reason":"r"}"#
        )
        #expect(response.status == 200)
        response = try request("/paymentservices/merchant/a%7Cb")
        #expect(response.status == 400)
        #expect(
            response.body
                == #"{"statusCode":"400","statusMessage":"Payment Services Exception invalid or Malformed Json Received"}"#
        )
        #expect(stop() == 0)
    }

    @Test("A second serve on the same directory is refused, and the first one keeps its registrations")
    func secondServe() throws {
        try start()
        #expect(try request("/paymentservices/registerMerchant", registration(["a.example.com"])).status == 200)
        let second = try Programs.run(["timeout", "20", Self.program, "serve", "--directory", path("apple")])
        #expect(second.status == 1 && second.output.isEmpty, "\(second)")
        #expect(second.error.contains("another 'applepay-sandbox serve' uses the directory"))
        #expect(try request("/paymentservices/registerMerchant", registration(["b.example.com"])).status == 200)
        #expect(stop() == 0)
        try start()
        #expect(try control("GET", "/registrations").contains(#"["a.example.com","b.example.com"]"#))
    }

    @Test func `A socket that cannot be opened and a file that cannot be read are named, with the system's reason`()
        throws
    {
        try start()
        let port = try #require(url.split(separator: ":").last)
        let other = path("other")
        #expect(try Programs.run([Self.program, "init", "--directory", other]).status == 0)
        for (arguments, place, reason) in [
            (["--port", String(port)], "port \(port) of 127.0.0.1", "Address already in use"),
            (["--control", path("none/control")], path("none/control"), "No such file or directory"),
        ] {
            let refused = try Programs.run(["timeout", "20", Self.program, "serve", "--directory", other] + arguments)
            #expect(refused.status == 1 && refused.error.contains(place), "\(refused)")
            #expect(refused.error.hasSuffix("\(reason)\n"), "\(refused)")
        }
        try? FileManager.default.removeItem(atPath: "\(other)/registrations.jsonl")
        try FileManager.default.createDirectory(
            atPath: "\(other)/registrations.jsonl", withIntermediateDirectories: false)
        let unreadable = try Programs.run(["timeout", "20", Self.program, "serve", "--directory", other])
        #expect(unreadable.status == 1 && unreadable.error.hasSuffix("Is a directory\n"), "\(unreadable)")
    }

    @Test("The response is 401 for an untrusted client certificate and for none")
    func unauthorized() throws {
        try start()
        let outcome = try Programs.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=untrusted", "-keyout",
            path("untrusted.key"), "-out", path("untrusted.pem"))
        try #require(outcome.status == 0)
        for identity in [nil, "untrusted"] {
            let response = try request("/paymentservices/merchant/shop-1", identity: identity)
            #expect(response.status == 401)
            #expect(
                response.body == #"{"statusCode":"401","statusMessage":"Payment Services Exception Unauthorized"}"#)
        }
    }

    @Test("The response to a malformed request is 400, and to an unknown path 404")
    func malformed() throws {
        try start()
        for body in ["", "x", "[]", "{}", #"{"domainNames":"a.example.com"}"#] {
            #expect(try request("/paymentservices/registerMerchant", body).status == 400, "\(body)")
        }
        let invalid = [["https://a.example.com"], ["a.example.com/x"], ["localhost"], [], ["a.b", "a.b"]]
        for domains in invalid {
            #expect(try request("/paymentservices/registerMerchant", registration(domains)).status == 400, "\(domains)")
        }
        #expect(try request("/paymentservices/registerMerchant", registration(["a.b"], "a b")).status == 400)
        let hundred = (0..<100).map { "s\($0).example.com" }
        #expect(try request("/paymentservices/registerMerchant", registration(hundred)).status == 400)
        #expect(try control("GET", "/registrations") == #"{"items":[]}"#)
        #expect(try request("/elsewhere").status == 404)
    }

    @Test("Faults can be set on the command line and on the control socket, for a number of calls and for an operation")
    func faults() throws {
        try start(
            "--fail", "417:x1", "--fail", "403:x1@getDetails", "--fail", "500:x1@getDetails", "--slow-seconds", "0.1")
        #expect(try request("/paymentservices/merchant/shop-1").status == 417)
        #expect(try request("/paymentservices/registerMerchant", registration(["a.example.com"])).status == 200)
        #expect(try request("/paymentservices/merchant/shop-1").status == 403)
        #expect(try request("/paymentservices/merchant/shop-1").status == 500)
        #expect(try request("/paymentservices/merchant/shop-1").status == 200)
        #expect(
            try control("PUT", "/faults", #"{"faults": ["reset-after-acting:x1", "answer-lost:x1", "slow"]}"#) == "")
        for domain in ["b.example.com", "c.example.com"] {
            let lost = try request("/paymentservices/registerMerchant", registration([domain]))
            #expect(lost.exit != 0)
        }
        #expect(try request("/paymentservices/merchant/shop-1").status == 200)
        #expect(try control("GET", "/faults") == #"{"faults":["slow"]}"#)
        #expect(try control("DELETE", "/faults") == "")
        #expect(try control("GET", "/registrations").contains(#"["a.example.com","b.example.com","c.example.com"]"#))
        let statistics = try control("GET", "/statistics")
        #expect(statistics.contains(#""registerMerchant":3"#), "\(statistics)")
        #expect(statistics.contains(#""answer-lost":1"#))
        #expect(try control("PUT", "/faults", #"{"faults": ["nonsense"]}"#).contains(#""statusCode":"400""#))
        #expect(try control("GET", "/faults") == #"{"faults":[]}"#)
    }

    @Test("The response to calls above the rate limit is 429, and they are counted")
    func rateLimit() throws {
        try start("--rate-limit", "1")
        var statuses: [Int?] = []
        // Repeats until two calls are within the same second of the clock.
        while !statuses.contains(429), statuses.count < 200 {
            statuses.append(try request("/paymentservices/merchant/shop-1").status)
        }
        #expect(Set(statuses) == [400, 429], "\(statuses)")
        let statistics = try control("GET", "/statistics")
        #expect(statistics.contains(#""limit":{"refused":\#(statuses.count { $0 == 429 })}"#), "\(statistics)")
    }

    @Test("With --verify-domains a domain is registered only if it serves the expected file")
    func verification() throws {
        let credentials = try fixture.authority.issueServerCredentials(
            names: ["shop.example.com"].compactMap(SandboxServerName.init), notBefore: SandboxFixture.now)
        try fixture.scratch.write(credentials.certificate, "site.pem")
        try fixture.scratch.write(credentials.privateKey, "site.key")
        try FileManager.default.createDirectory(
            atPath: path("site/.well-known"), withIntermediateDirectories: true)
        let file = "site/.well-known/apple-developer-merchantid-domain-association"
        try fixture.scratch.write("7B22", "file")
        let site = try ChildProcess(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-WWW", "-cert", path("site.pem"), "-key",
                path("site.key"),
            ], output: .file(path("site.out")), directory: path("site"))
        defer { site.killAndWait() }
        // openssl prints a line such as "ACCEPT 127.0.0.1:37715" when it listens.
        let port = try site.announcement(in: path("site.out")) { output in
            output.firstMatch(of: /ACCEPT .*:(\d+)\n/).flatMap { Int($0.1) }
        }
        try start(
            "--verify-domains", "--resolve", "shop.example.com=127.0.0.1:\(port)", "--association-file", path("file"))
        let body = registration(["shop.example.com"])
        #expect(try request("/paymentservices/registerMerchant", body).status == 400)
        try fixture.scratch.write("7B23", file)
        #expect(try request("/paymentservices/registerMerchant", body).status == 400)
        try fixture.scratch.write("7B22", file)
        #expect(try request("/paymentservices/registerMerchant", body).status == 200)
    }

    @Test(
        "openssl accepts a certificate of issue-server for its names only; an existing private key is not overwritten")
    func serverCertificate() throws {
        #expect(
            SandboxProgram.run([
                "issue-server", "--directory", path("apple"), "--name", "shop.example.com", "--name", "127.0.0.1",
                "--certificate", path("server.pem"), "--private-key", path("server.key"),
            ]) == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: path("server.key"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for (option, name, accepts) in [
            ("-verify_hostname", "shop.example.com", true), ("-verify_ip", "127.0.0.1", true),
            ("-verify_hostname", "other.example.com", false),
        ] {
            let outcome = try Programs.openssl(
                "verify", "-purpose", "sslserver", "-CAfile", path("apple/root.pem"), option, name, path("server.pem"))
            #expect((outcome.status == 0) == accepts, "\(name): \(outcome.error)")
        }
        // A second call with the same file for the private key fails.
        #expect(
            SandboxProgram.run([
                "issue-server", "--directory", path("apple"), "--name", "x.example", "--certificate",
                path("server.pem"), "--private-key", path("server.key"),
            ]) == 1)
    }

    @Test("serve exits with status 1 if its directory has no certificate authorities")
    func withoutHierarchy() { #expect(SandboxProgram.run(["serve", "--directory", path("nowhere")]) == 1) }

    @Test("The broker uses a private key that is created, or replaced, while the server runs")
    func brokerWithoutRestart() throws {
        try start()
        let body = try ProvisioningFixture.json(ProvisioningFixture().encrypt())
        func send(_ body: String) throws -> Int? {
            try request("/broker/v4/devices/0123/cards", body, identity: nil).status
        }
        #expect(try send(body) == 500)
        for _ in 1...2 {
            let card = try ProvisioningFixture()
            try fixture.scratch.write(card.credentials.privateKey, "apple/provisioning-leaf.key.pem")
            #expect(try send(ProvisioningFixture.json(card.encrypt())) == 200)
        }
        try fixture.scratch.write("not a key", "apple/provisioning-leaf.key.pem")
        #expect(try send(body) == 500)
    }

    @Test("The broker answers devices, which have no client certificate, and gives the reason for a 500 in a header")
    func broker() throws {
        let card = try ProvisioningFixture()
        let certificates = ["provisioning-certificates", "--directory", path("apple")]
        try #require(SandboxProgram.run(certificates) == 0)
        // The fixture encrypts to another key, so this key replaces the generated one.
        try fixture.scratch.write(card.credentials.privateKey, "apple/provisioning-leaf.key.pem")
        try start()
        let good = try request(
            "/broker/v4/devices/0123/cards", ProvisioningFixture.json(try card.encrypt()), identity: nil)
        #expect(good.status == 200)
        let bad = try Programs.run([
            "curl", "-s", "-i", "--cacert", path("apple/root.pem"), "-d", "{}", "\(url)/broker/v4/devices/0123/cards",
        ])
        #expect(bad.output.hasPrefix("HTTP/1.1 500"))
        #expect(bad.output.contains("x-apay-service-response-details: "))
        #expect(bad.output.contains("Broker Service Response exception"))
        let other = try request("/broker/v4/devices//cards", "{}", identity: nil)
        #expect(other.status == 401)
    }
}

/// Tests of the command lines of `serve`, `issue-server` and `mint-token`.
@Suite struct ServeUsageTests {
    @Test(
        "The text of a parsed fault equals its input",
        arguments: [
            "500", "500:0.25", "answer-lost:x3@registerMerchant", "slow@getDetails", "html@paymentSession",
            "trickle:x1@merchantTokenEvent",
        ])
    func faultText(text: String) throws { #expect(try GatewayFault(text).text == text) }

    @Test(
        "An invalid fault is rejected",
        arguments: ["", "501", "500:", "500:2", "500:x0", "500:xx", "500@nothing", "500:-1", "slow:x1@"])
    func invalidFault(text: String) { #expect(throws: SandboxError.self) { try GatewayFault(text) } }

    @Test(
        "The exit status of wrong usage is 2",
        arguments: [
            ["serve", "--fail", "nonsense"], ["serve", "--port", "70000"], ["serve", "--slow-seconds", "x"],
            ["serve", "--name", "a/b"], ["serve", "--merchant-domain", "merchant.x"],
            ["serve", "--merchant-domain", "x=a.example"], ["issue-server"],
            ["mint-token", "--certificate", "x", "--merchant-token", "a", "--merchant-token-identifier", "b"],
            ["issue-server", "--name", "a b", "--certificate", "x", "--private-key", "y"],
        ])
    func usage(arguments: [String]) { #expect(SandboxProgram.run(arguments) == 2) }
}
