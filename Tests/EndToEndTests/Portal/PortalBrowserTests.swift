import Foundation
import MerchantTestSupport
import Testing

private enum Browser {
    static let isInstalled =
        ChildProcess.succeeds("chromium", "--version") && ChildProcess.succeeds("chromedriver", "--version")
        && ChildProcess.succeeds("python3", "-c", "import axe_core_python, cryptography, selenium")
}

/// The portal's pages in Chromium.
@Suite(.enabled(if: Browser.isInstalled, "chromium, chromedriver, or a Python package is not installed"))
struct PortalBrowserTests {
    /// How a person uses the browser.
    struct Visitor: CustomStringConvertible {
        let name: String
        let options: [String]

        var description: String { name }
        var merchant: String { "merchant.com.example.\(name)" }
        var hasScripts: Bool { !options.contains("off") }
    }

    static let visitors = [
        Visitor(name: "wide", options: ["--width", "1280", "--dark"]),
        Visitor(name: "narrow", options: ["--width", "360"]),
        Visitor(name: "wide-without-scripts", options: ["--width", "1280", "--scripts", "off"]),
        Visitor(name: "narrow-without-scripts", options: ["--width", "360", "--scripts", "off"]),
        Visitor(name: "keyboard", options: ["--width", "1280", "--input", "keyboard"]),
    ]

    /// What `portal_browser.py` prints.
    struct Report: Decodable {
        struct Control: Decodable {
            let policyViolations: Int
            let accessibility: [String]
        }

        let pages: [String]
        let steps: [String]
        let uploads: [String: String]
        let requestNames: [[String]]
        let notices: [String: String]
        let liveUpdate: Bool
        let liveEnd: Bool
        let reserve: [String]
        let consoleCommand: Bool
        let domains: [[String]]
        let searches: [String: [String]]
        let console: [String]
        let accessibility: [String]
        let overflow: [String]
        let overlaps: [String]
        let indents: [String]
        let foreignRequests: [String]
        let invisibleFocus: [String]
        let control: Control
    }

    static let domainFile = "the integrator's file"

    /// The onboarding, a roll and the upload for the reserve key. The last step of the roll waits for an admin, who
    /// finishes the roll.
    static let steps = [
        "keyPair", "appleCertificate", "activation", "complete", "appleCertificate", "activation", "done", "complete",
        "complete",
    ]

    /// The problem that the page shows for each file.
    static let uploads = [
        "page.cer": "webPage", "store.p12": "pkcs12", "key.pem": "privateKey", "bundle.p7b": "pkcs7",
        "request.csr": "signingRequest", "empty.cer": "empty", "chain.pem": "chain", "letter.pdf": "otherFile",
        "cut.cer": "malformed", "other-merchant.cer": "otherMerchant", "other-key.cer": "unknownKey",
        "identity.cer": "identityCertificate", "app.mobileprovision": "provisioningProfile", "expired.cer": "expired",
        "large.cer": "tooLarge",
    ]

    static let notices = [
        "sign-in": "signIn", "home-certificate": "notice.keyPairGenerated",
        "home-activation": "notice.certificateStored", "home-roll-certificate": "notice.rollStartedWithReserve",
        "domain-invalid": "problem.domainInvalid", "domain-registered": "notice.domainsRegistered",
        "domain-unregistered": "notice.domainUnregistered", "invitation-used": "invitationRefused.used",
        "not-found": "error.notFound", "signed-out": "signedOut", "session-ended": "sessionEnded",
        "login-used": "loginRefused", "invitation-created": "invitationCreated",
        "invitation-shown": "invitationCreated.shown", "operator-session-ended": "sessionEnded",
    ]

    let installation: Installation
    let certificate: String
    // The sandbox's gateway and the site shop.example. They run as long as this value exists.
    private let servers: [TestServer]

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        let site = try installation.serverCertificate("site", names: ["shop.example"])
        let file = try installation.write(Self.domainFile, "association")
        let shop = try TestServer(
            ["python3", TestScript.site, site.certificate, site.privateKey, file],
            output: installation.path("site.out"))
        let gateway = try AppleServer.sandbox.start(
            for: installation,
            ["--verify-domains", "--association-file", file, "--resolve", "shop.example=127.0.0.1:\(shop.announced)"])
        servers = [shop, gateway]
        let portal = try installation.serverCertificate("portal", names: ["127.0.0.1"])
        certificate = portal.certificate
        let apple = installation.path("apple")
        let settings = """
            environment: sandbox
            trust:
              token-roots: [\(apple)/root.pem]
              certificate-issuers: [\(apple)/processing-issuer.pem, \(apple)/identity-issuer.pem, \(apple)/root.pem]
            domain-check:
              allow-internal-addresses: true
              trust-roots: [\(apple)/root.pem]
              resolve: ["shop.example=127.0.0.1:\(shop.announced)"]
            roll:
              quiet-period: 0s
            portal:
              listen: "127.0.0.1:0"
              tls:
                certificate: \(portal.certificate)
                private-key: \(portal.privateKey)
            """
        try installation.start(
            config: installation.gatewaySettings(AppleServer.sandbox.url(of: gateway), further: [settings]))
        #expect(try installation.ctl("merchant", "add", Installation.integrator).status == 0)
        _ = try installation.certifiedKey(Installation.integrator, "identity", "--purpose", "identity")
        #expect(try installation.ctl("domain", "file", "--set", file).status == 0)
    }

    /// Starts the script, which writes to the files `NAME.json` and `NAME.log`. The screenshots go to
    /// `MERCHANTKEYD_SCREENSHOTS`, if this variable is set.
    private func start(_ visitor: Visitor) throws -> ChildProcess {
        let script = try #require(
            Bundle.module.path(
                forResource: "portal_browser", ofType: "py", inDirectory: "Scripts/portal_browser"))
        let texts = URL(filePath: #filePath).appending(
            path: "../../../../Sources/PortalServer/Pages/Resources/texts.json"
        ).standardized.path
        let screenshots =
            ProcessInfo.processInfo.environment["MERCHANTKEYD_SCREENSHOTS"] ?? installation.path("screenshots")
        let work = installation.path(visitor.name)
        try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
        return try ChildProcess(
            [
                "python3", "-B", script, "--programs", Installation.programs, "--socket", installation.adminSocket,
                "--apple", installation.path("apple"), "--site", certificate, "--work", work, "--texts", texts,
                "--screenshots", "\(screenshots)/\(visitor.name)", "--merchant", visitor.merchant,
            ] + visitor.options,
            output: .file(installation.path("\(visitor.name).json")),
            error: .file(installation.path("\(visitor.name).log")))
    }

    @Test(.tags(.slow), .skippedInQuickRuns)
    func `a merchant onboards, rolls and registers a domain in a browser, without scripts and by keyboard too`() throws
    {
        let running = try Self.visitors.map { ($0, try start($0)) }
        defer { running.forEach { $0.1.killAndWait() } }
        for (visitor, process) in running {
            let status = process.wait().status
            let log = try String(contentsOfFile: installation.path("\(visitor).log"), encoding: .utf8)
            guard status == 0 else {
                Issue.record("\(visitor): exit status \(status): \(log)")
                continue
            }
            let output = try Data(contentsOf: URL(filePath: installation.path("\(visitor).json")))
            try expectOnboarding(by: visitor, JSONDecoder().decode(Report.self, from: output))
        }
    }

    private func expectOnboarding(by visitor: Visitor, _ report: Report) throws {
        #expect(report.steps == Self.steps, "\(visitor)")
        #expect(report.uploads == Self.uploads, "\(visitor)")
        #expect(
            report.reserve == ["Get a certificate for your reserve key", "Everything is set up"], "\(visitor)")
        #expect(report.requestNames.count == 3, "\(visitor)")
        for names in report.requestNames {
            // The file has the name that the page shows.
            #expect(names.first == names.last, "\(visitor)")
        }
        for (page, notice) in Self.notices {
            #expect(report.notices[page] == notice, "\(visitor): \(page)")
        }
        // The notice about the upload does not stay after the first payment.
        for page in ["home-first-payment", "home-roll-payment", "home-roll-done"] {
            #expect(report.notices[page]?.hasPrefix("notice.") == false, "\(visitor): \(page)")
        }
        if !visitor.hasScripts {
            #expect(report.notices["upload-huge.cer"] == "error.tooLarge", "\(visitor)")
        }
        #expect(report.consoleCommand, "\(visitor)")
        #expect(report.liveUpdate == visitor.hasScripts, "\(visitor)")
        #expect(report.liveEnd == visitor.hasScripts, "\(visitor)")
        #expect(
            report.domains == [
                ["file", Self.domainFile], ["registered", "shop.example"], ["unregistered"],
                ["registered again", "shop.example"],
            ], "\(visitor)")
        for kind in ["identifier", "name", "domain", "key", "part"] {
            #expect(report.searches[kind]?.contains(visitor.merchant) == true, "\(visitor): \(kind)")
        }
        #expect(report.searches["none"] == [], "\(visitor)")
        #expect(report.console == [] && report.accessibility == [], "\(visitor)")
        #expect(report.overlaps == [] && report.indents == [], "\(visitor)")
        #expect(report.overflow == [] && report.foreignRequests == [] && report.invisibleFocus == [], "\(visitor)")
        // The checks see a violation where there is one.
        #expect(report.control.policyViolations > 0 && report.control.accessibility == ["image-alt"], "\(visitor)")

        let keys = try #require(
            try installation.ctlJSON("key", "list", visitor.merchant)["items"] as? [[String: Any]], "\(visitor)")
        #expect(keys.count { $0["state"] as? String == "current" } == 1, "\(visitor)")
        #expect(keys.count { $0["state"] as? String == "revoked" } == 1, "\(visitor)")
        #expect(try installation.registeredAtApple()[visitor.merchant] == ["shop.example"], "\(visitor)")
    }
}
