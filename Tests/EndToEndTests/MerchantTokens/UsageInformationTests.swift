import Foundation
import MerchantTestSupport
import Testing

/// Usage information of merchant tokens, with a backend in Python, and the sandbox as Apple and as the device.
@Suite(.enabled(if: Installation.hasPython, "python3 or its package cryptography is not installed"))
struct UsageInformationTests {
    private static let merchant = SubscriptionTests.merchant
    private static let token = "DAPLMC0002"
    private static let authenticationToken = "device-token-1"

    /// A backend that accepts the authentication token in its first argument. Responds with the content of the file
    /// in its second argument, or with 404 if there is no such file.
    private static let backend = """
        import http.server, json, os, sys
        token, package = sys.argv[1:3]
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if question["authenticationToken"] != token: status, body = 401, b""
                elif not os.path.exists(package): status, body = 404, b""
                else: status, body = 200, open(package, "rb").read()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    let installation: Installation
    let port: Int

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        port = try Installation.freePort()
    }

    /// A device's request.
    ///
    /// - Parameter authorization: the header's value; nil for no header.
    private func request(
        _ token: String = token,
        _ authorization: String? = "ApplePayMerchantTokenUsageInformation \(authenticationToken)"
    ) throws -> (status: String, body: String) {
        let answer = try Installation.run(
            [
                "curl", "--silent", "--show-error", "--cacert", installation.path("apple/root.pem"),
                "--write-out", "\n%{http_code}",
                "https://localhost:\(port)/tokenapi/v1/merchantToken/\(token)/usageInformation",
            ] + (authorization.map { ["--header", "Authorization: \($0)"] } ?? []))
        let lines = answer.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    private func code(_ body: String) throws -> String? {
        let document = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        return document?["code"] as? String
    }

    @Test func `a device with the right token gets the package that only it can decrypt, and others are refused`()
        throws
    {
        let apple = try ApplePeer(.sandbox, for: installation)
        let webhook = try WebhookReceiver(for: installation)
        let package = installation.path("package")
        let server = try TestServer(
            ["python3", "-c", Self.backend, Self.authenticationToken, package],
            output: installation.path("backend.out"))
        let key = installation.path("usage.key")
        let generated = try Installation.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", key])
        try #require(generated.status == 0, "\(generated.error)")
        let publicKey = try Installation.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"])
        let settings = try installation.subscriptionSettings(
            apple, webhook, port: port,
            ["usage-information: {url: 'http://127.0.0.1:\(server.announced)/', private-key: \(key)}"])
        try installation.start(config: settings)
        try installation.addWithIdentity(Self.merchant)
        _ = try installation.certifiedKey(Self.merchant, "key")
        let paid = try installation.ctl(
            "token", "decrypt", try apple.mintToken(Self.token, to: "key.cer"), "--merchant", Self.merchant)
        try #require(paid.status == 0, "\(paid.error)")
        try installation.eventually("the payment is in the mirror", within: .seconds(30)) {
            try installation.merchantToken(Self.token) != nil
        }
        // Apple generates the public key of a token that has a URL for notifications.
        let known = [
            "merchantIdentifier": Self.merchant, "merchantTokenIdentifier": Self.token,
            "tokenNotificationURL": "https://localhost:\(port)/tokenapi",
        ]
        _ = try installation.control(
            "/merchant-tokens", "-X", "POST", "-d",
            String(decoding: JSONSerialization.data(withJSONObject: known), as: UTF8.self))

        // No usage information, then a package of the greatest length, then one that is too long.
        #expect(try code(request().body) == "merchantTokenNotFound")
        let content = Data((0..<2_984).map { UInt8(truncatingIfNeeded: $0) })
        try content.write(to: URL(filePath: package))
        let answer = try request()
        #expect(answer.status == "200", "\(answer.body)")
        let point = publicKey.bytes.suffix(97).base64EncodedString()
        let opened = try installation.control(
            "/merchant-tokens/usage-information", "-X", "POST", "-d",
            #"{"merchantTokenIdentifier": "\#(Self.token)", "merchantPublicKey": "\#(point)", "response": \#(answer.body)}"#
        )
        #expect(opened["content"] as? String == content.base64EncodedString(), "\(opened)")
        try (content + [0]).write(to: URL(filePath: package))
        #expect(try code(request().body) == "usageInformationFailed")

        for authorization in [
            nil, "", "Bearer \(Self.authenticationToken)", "ApplePayMerchantTokenUsageInformation",
            "ApplePayMerchantTokenUsageInformation wrong", Self.authenticationToken,
            "ApplePayMerchantTokenUsageInformation \(String(repeating: "a", count: 1025))",
        ] {
            let refused = try request(Self.token, authorization)
            #expect(try refused.status == "401" && code(refused.body) == "unauthorized", "\(authorization ?? "none")")
        }
        let wrong = try request(Self.token, "ApplePayMerchantTokenUsageInformation wrong")
        for unknown in ["DAPLMC9999", "%20", String(repeating: "a", count: 65)] {
            let refused = try request(unknown)
            #expect(try refused.status == wrong.status && code(refused.body) == code(wrong.body))
        }

        // An unlinked token is refused like an unknown one. Without the backend, the device must repeat the request.
        try content.write(to: URL(filePath: package))
        server.stop()
        let unavailable = try request()
        #expect(try unavailable.status == "503" && code(unavailable.body) == "usageInformationUnavailable")
        #expect(try installation.ctl("merchant-token", "unlink", Self.token, "--yes").status == 0)
        #expect(try request().status == "401")
    }

    @Test func `config check refuses a private key that others can read, or that is not on P-384`() throws {
        for (name, curve, mode) in [("open.key", "P-384", 0o644), ("other.key", "P-256", 0o600)] {
            let key = installation.path(name)
            let generated = try Installation.run(
                ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", key])
            try #require(generated.status == 0, "\(generated.error)")
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
            let file = try installation.write(
                """
                environment: sandbox
                merchant-tokens:
                  usage-information: {url: "http://127.0.0.1:9/", private-key: \(key)}
                """, "usage.yaml")
            let check = try Installation.run(
                [
                    "\(Installation.programs)/merchantkeyctl", "config", "check", "--config", file,
                    "--state-directory", installation.stateDirectory,
                ])
            #expect(check.status != 0 && (check.output + check.error).contains(key), "\(check)")
        }
    }
}
