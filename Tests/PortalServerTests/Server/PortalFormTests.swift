import Foundation
import MerchantOperations
import MerchantTestSupport
import Testing

/// Forms that are sent twice, and forms that are too large.
@Suite struct PortalFormTests {
    /// The form for a new invitation, as a browser sends it.
    private struct InvitationForm {
        let cookie: String
        let arguments: [String]

        init(on portal: ServerFixture, note: String) async throws {
            cookie = try await portal.signInOperator()
            let page = try await portal.curl("/fleet/invitations/new", headers: [cookie])
            let token = try #require(page.body.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1
            arguments = [
                "--include", "--header", "Origin: https://127.0.0.1:\(portal.port)", "--data",
                "csrf=\(token)&idempotencyKey=0123456789abcdef&merchant=\(ServerFixture.merchant)&days=7&note=\(note)",
            ]
        }

        /// - Returns: the page to which the portal redirects.
        func send(to portal: ServerFixture) async throws -> String {
            let reply = try await portal.curl("/fleet/invitations", headers: [cookie], arguments)
            try #require(reply.status == "303", "\(reply)")
            return String(try #require(reply.body.firstMatch(of: /(?i)location: ([^\r\n]+)/)).1)
        }
    }

    private static let link = "/invitations/mki_"

    @Test func `the link of a new invitation is shown once, and a reload says that the invitation exists`() async throws
    {
        try await ServerFixture.run { portal in
            let form = try await InvitationForm(on: portal, note: "x")
            let path = try await form.send(to: portal)
            let first = try await portal.curl(path, headers: [form.cookie])
            #expect(first.status == "200" && first.body.contains(Self.link), "\(first)")
            let reloaded = try await portal.curl(path, headers: [form.cookie])
            #expect(reloaded.status == "200" && !reloaded.body.contains(Self.link), "\(reloaded)")
            let list = try await portal.curl("/fleet/invitations", headers: [form.cookie])
            #expect(list.body.matches(of: /\/revoke"/).count == 1)
        }
    }

    @Test func `a form that is sent twice leads to the same invitation`() async throws {
        try await ServerFixture.run { portal in
            let form = try await InvitationForm(on: portal, note: "x")
            let path = try await form.send(to: portal)
            #expect(try await form.send(to: portal) == path)
            let page = try await portal.curl(path, headers: [form.cookie])
            #expect(page.body.contains(Self.link), "\(page)")
            // The portal keeps the link for one minute. After that, the response says that the form was sent before.
            portal.clock.advance(by: .seconds(61))
            let late = try await portal.curl("/fleet/invitations", headers: [form.cookie], form.arguments)
            #expect(late.status == "422" && !late.body.contains(Self.link), "\(late)")
            #expect(try await portal.operations.invitations.list(of: nil, after: nil, limit: 9).count == 1)
        }
    }

    @Test func `another session does not get the link of a new invitation`() async throws {
        try await ServerFixture.run { portal in
            let form = try await InvitationForm(on: portal, note: "x")
            let path = try await form.send(to: portal)
            let other = try await portal.curl(path, headers: [try await portal.signInOperator()])
            #expect(other.status == "200" && !other.body.contains(Self.link), "\(other)")
            let own = try await portal.curl(path, headers: [form.cookie])
            #expect(own.body.contains(Self.link), "\(own)")
        }
    }

    @Test(arguments: [("/merchant/certificates", "413 < True\n< True\n"), ("/v1/merchants", "413 { False\n{ False\n")])
    func `a body above the limit of the server gets a page for a form, and a problem document for REST`(
        path: String, expected: String
    ) async throws {
        try await ServerFixture.run { portal in
            let output = try await portal.python(
                """
                path, length = b"\(path)", b"2147483648"
                s = tls()
                s.sendall(b"POST " + path + b" HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: " + length + b"\\r\\n\\r\\n")
                begin, _, body = rest(s).partition(b"\\r\\n\\r\\n")
                print(begin.split(b" ")[1].decode(), body[:1].decode(), b"256 KB" in body)
                s = http2()
                s.sendall(frame(1, 4, 1, head(b"POST", path, [(b"content-length", length)])))
                body = b""
                for kind, flags, stream, payload in frames(s):
                    if stream == 1 and kind == 0: body += payload
                    if stream == 1 and (kind == 3 or flags & 1): break
                print(body[:1].decode(), b"256 KB" in body)
                """)
            #expect(output == expected)
        }
    }
}
