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
}
