import MerchantCore
import MerchantTestSupport
import Testing

@Suite struct PortalSessionTests {
    @Test func `the next request of a session that an admin has ended gets the page of an ended session`() async throws
    {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInOperator()
            let before = try await portal.curl("/fleet", headers: [cookie])
            #expect(before.status == "200" && before.contentType.hasPrefix("text/html"))
            try await portal.endOperatorSessions()
            let after = try await portal.curl("/fleet", headers: [cookie])
            #expect(after.status == "401" && after.contentType.hasPrefix("text/html"), "\(after)")
            let form = try await portal.curl(
                "/fleet/invitations", headers: [cookie], ["--data", "merchant=\(ServerFixture.merchant)"])
            #expect(form.status == "401" && form.contentType.hasPrefix("text/html"), "\(form)")
            // An operator signs in again with a command, a person at a merchant with an invitation.
            for page in [after, form] { #expect(page.body.contains("merchantkeyctl console"), "\(page)") }
            let merchant = try await portal.curl("/merchant/keys")
            #expect(merchant.status == "401" && !merchant.body.contains("merchantkeyctl"), "\(merchant)")
        }
    }

    @Test func `a notice is shown until the state that it describes changes`() async throws {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInMerchant()
            let page = try await portal.curl("/", headers: [cookie])
            let token = try #require(page.body.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1
            let sent = try await portal.curl(
                "/merchant/keys", headers: [cookie],
                [
                    "--include", "--header", "Origin: https://127.0.0.1:\(portal.port)", "--data",
                    "csrf=\(token)&idempotencyKey=0123456789abcdef",
                ])
            let path = String(try #require(sent.body.firstMatch(of: /(?i)location: ([^\r\n]+)/)).1)
            func showsNotice() async throws -> Bool {
                try await portal.curl(path, headers: [cookie]).body.contains("alert-success")
            }
            #expect(try await showsNotice())
            #expect(try await showsNotice())
            try await portal.revokeKey()
            let isShownLater = try await showsNotice()
            #expect(!isShownLater)
        }
    }

    @Test func `the page of an error names the merchant of the session as every page does`() async throws {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInMerchant()
            for (path, status) in [("/no-such-page", "404"), ("/merchant/certificates", "405")] {
                let page = try await portal.curl(path, headers: [cookie])
                #expect(page.status == status && page.body.contains(ServerFixture.merchantName), "\(page)")
            }
        }
    }

    @Test func `requests that an open page sends by itself do not keep its session alive`() async throws {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInMerchant()
            let page = "/merchant/keys"
            let polls = [
                ("/v1/merchants/\(ServerFixture.merchant)/onboarding", [cookie]),
                (page, [cookie, "Sec-Fetch-Mode: same-origin"]), (page, [cookie, "Sec-Fetch-Mode: cors"]),
            ]
            for (path, headers) in polls {
                let reply = try await portal.curl(path, headers: headers)
                #expect(reply.status == "200", "\(path): \(reply)")
                portal.clock.advance(by: .seconds(600))
            }
            let ended = try await portal.curl(page, headers: [cookie, "Sec-Fetch-Mode: navigate"])
            #expect(ended.status == "401", "\(ended)")
        }
    }

    @Test(arguments: [[], ["Sec-Fetch-Mode: navigate"]])
    func `a page that a person opens keeps the session alive`(headers: [String]) async throws {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInMerchant()
            for _ in 0..<4 {
                portal.clock.advance(by: .seconds(1200))
                let reply = try await portal.curl("/merchant/keys", headers: [cookie] + headers)
                #expect(reply.status == "200", "\(reply)")
            }
        }
    }

    /// Presses the button on the page of a link: sends the form of this page.
    ///
    /// - Parameters:
    ///   - token: the CSRF token of the form.
    ///   - cookies: those that the browser has.
    private func press(
        _ path: String, token: Substring, _ cookies: [String], _ portal: ServerFixture
    ) async throws -> (status: String, cookies: [String]) {
        let reply = try await portal.curl(
            path, headers: cookies.map { "Cookie: \($0)" },
            ["--include", "--header", "Origin: https://127.0.0.1:\(portal.port)", "--data", "csrf=\(token)"])
        return (reply.status, Self.cookies(reply.body))
    }

    private static func cookies(_ head: String) -> [String] {
        head.matches(of: /(?i)set-cookie: ([^;\r\n]+)/).map { String($0.1) }
    }

    @Test(arguments: [PortalSecret.Kind.invitation, .login])
    func `a button that is pressed twice signs in once, in one browser only`(kind: PortalSecret.Kind) async throws {
        try await ServerFixture.run { portal in
            let path = try await portal.signInPath(kind)
            let page = try await portal.curl(path, ["--include"])
            let browser = Self.cookies(page.body)
            #expect(browser.count == 1)
            let token = try #require(page.body.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1
            let first = try await press(path, token: token, browser, portal)
            let second = try await press(path, token: token, browser, portal)
            #expect(first.status == "303" && second.status == "303")
            #expect(first.cookies.count == 1 && first.cookies == second.cookies)
            let name = try #require(browser[0].split(separator: "=").first)
            let otherBrowser = "\(name)=\(String(repeating: "0f", count: 16))"
            let other = try await press(path, token: token, [otherBrowser], portal)
            let none = try await press(path, token: token, [], portal)
            #expect(other.status != "303" && none.status != "303", "\(other) \(none)")
            let home = try await portal.curl(
                kind == .login ? "/fleet" : "/merchant/keys", headers: ["Cookie: \(first.cookies[0])"])
            #expect(home.status == "200")
        }
    }

    @Test(arguments: ["GET", "HEAD"])
    func `opening a link does not use it up`(method: String) async throws {
        try await ServerFixture.run { portal in
            for kind in [PortalSecret.Kind.invitation, .login] {
                let path = try await portal.signInPath(kind)
                for _ in 0..<3 {
                    let reply = try await portal.curl(path, method == "HEAD" ? ["--head"] : [])
                    #expect(reply.status == "200", "\(reply)")
                }
                let page = try await portal.curl(path)
                let token = try #require(page.body.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1
                #expect(try await press(path, token: token, [], portal).status == "303")
            }
        }
    }

    @Test func `a HEAD request does not use up the page that shows the link of a new invitation`() async throws {
        try await ServerFixture.run { portal in
            let cookie = try await portal.signInOperator()
            let created = try await portal.form(
                "/fleet/invitations", of: "/fleet/invitations/new",
                ["merchant=\(ServerFixture.merchant)", "days=7", "note=", "idempotencyKey=0123456789abcdef"],
                cookie: cookie, ["--include"])
            let path = String(try #require(created.body.firstMatch(of: /(?i)location: ([^\r\n]+)/)).1)
            let head = try await portal.curl(path, headers: [cookie], ["--head"])
            #expect(head.status == "200")
            func showsLink() async throws -> Bool {
                try await portal.curl(path, headers: [cookie]).body.contains("/invitations/mki_")
            }
            #expect(try await showsLink())
            let isShownAgain = try await showsLink()
            #expect(!isShownAgain)
        }
    }
}
