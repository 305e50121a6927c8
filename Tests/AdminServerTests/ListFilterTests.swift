import AdminServer
import Foundation
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct ListFilterTests {
    private static func items(_ reply: Reply, _ name: String) throws -> [String] {
        #expect(reply.status == 200, "\(reply.text)")
        return (try reply.json()["items"] as? [[String: any Sendable]] ?? []).compactMap { $0[name] as? String }
    }

    @Test("key pairs of all merchants, or those in one state, are listed in pages by the expiry of their certificates")
    func keysByExpiry() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let later = server.clock.now.adding(.seconds(701 * 86_400))
            let path = "/v1/keys?endingBefore=\(later)"
            #expect(try await Self.items(server.curl("GET", path), "publicKeyHash").isEmpty, "pending key pairs")
            for (key, merchant) in [(added.key, added.merchant), (added.otherKey, added.other)] {
                let stored = try await server.curl("POST", "/v1/certificates", "CERT:\(key.hex):\(merchant)")
                #expect(stored.status == 200)
            }
            #expect(try await server.curl("POST", "/v1/keys/\(added.key.base64URL)/promote").status == 200)

            let both = try await Self.items(server.curl("GET", path), "publicKeyHash")
            #expect(Set(both) == [added.key.base64, added.otherKey.base64])
            let first = try await server.curl("GET", "\(path)&limit=1")
            let cursor = try #require(first.string("nextCursor"))
            let second = try await server.curl("GET", "\(path)&limit=1&cursor=\(cursor)")
            #expect(try Self.items(first, "publicKeyHash") + Self.items(second, "publicKeyHash") == both)
            #expect(second.string("nextCursor") == nil)
            let current = try await server.curl("GET", "\(path)&state=current")
            #expect(try Self.items(current, "publicKeyHash") == [added.key.base64])
            let soon = "/v1/keys?endingBefore=\(server.clock.now.adding(.seconds(86_400)))"
            #expect(try await Self.items(server.curl("GET", soon), "publicKeyHash").isEmpty)

            for (query, says) in [
                ("endingBefore=soon", "not a time"), ("endingBefore=\(later)&state=revoked", "only active key pairs"),
                ("endingBefore=\(later)&prefix=abcd", "cannot be combined"),
                ("endingBefore=\(later)&cursor=\(PublicKeyHash(of: [9]).hex)", "names no key pair"),
            ] {
                let refused = try await server.curl("GET", "/v1/keys?\(query)")
                #expect(refused.status == 400 && refused.string("detail")?.contains(says) == true, "\(refused.text)")
            }
        }
    }

    @Test("a list of merchants can be limited to a prefix of the identifier, and to merchants below their target")
    func merchants() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let lowered = try await server.curl(
                "PATCH", "/v1/merchants/\(added.other)", #"{"targetActiveKeyPairs": 1}"#)
            #expect(lowered.status == 200)
            _ = try await server.curl("POST", "/v1/certificates", "CERT:\(added.otherKey.hex):\(added.other)")
            for (query, expected) in [
                ("", [added.other, added.merchant]), ("?belowTarget=true", [added.merchant]),
                ("?belowTarget=false&prefix=merchant.com.example.o", [added.other]),
                ("?belowTarget=true&prefix=merchant.com.example.o", []),
                ("?prefix=merchant.", [added.other, added.merchant]),
                ("?prefix=merchant.com.example.&cursor=\(added.other)", [added.merchant]),
            ] {
                let reply = try await server.curl("GET", "/v1/merchants\(query)")
                #expect(try Self.items(reply, "merchantIdentifier") == expected.map(\.rawValue), "\(query)")
            }
            for query in ["?belowTarget=yes", "?prefix=", "?prefix=\(String(repeating: "x", count: 256))"] {
                #expect(try await server.curl("GET", "/v1/merchants\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test("a caller with a permit for some merchants gets only those of them that match the filters")
    func grantedMerchants() async throws {
        let merchants = ["shop", "other"].compactMap { MerchantIdentifier("merchant.com.example.\($0)") }
        try await TestServer.run(policy: TestServer.policy([.read], merchants: Set(merchants))) { server in
            _ = try await server.addTwoMerchants()
            let reply = try await server.curl("GET", "/v1/merchants?belowTarget=true&prefix=merchant.com.example.s")
            #expect(try Self.items(reply, "merchantIdentifier") == ["merchant.com.example.shop"])
        }
    }

    @Test("an import takes the certificate from the private key's file, if the request has no other")
    func importWithoutCertificate() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let path = "/v1/merchants/\(added.merchant)/keys/import"
            func file(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
            let (first, second) = (PublicKeyHash(of: [42]), PublicKeyHash(of: [43]))
            let both = file("KEY:\(first.hex):\(added.merchant)")
            let imported = try await server.curl("POST", path, #"{"privateKey": "\#(both)"}"#)
            #expect(imported.status == 201 && imported.string("publicKeyHash") == first.base64, "\(imported.text)")
            let twice = file("KEY:\(second.hex):\(added.merchant)")
            let sameFile = try await server.curl(
                "POST", path, #"{"privateKey": "\#(twice)", "certificate": "\#(twice)"}"#)
            #expect(sameFile.status == 201 && sameFile.string("publicKeyHash") == second.base64, "\(sameFile.text)")
            let keyOnly = file("KEY:\(PublicKeyHash(of: [44]).hex)")
            let refused = try await server.curl("POST", path, #"{"privateKey": "\#(keyOnly)"}"#)
            #expect(refused.status == 400 && refused.text.contains("'certificate' is missing"), "\(refused.text)")
        }
    }
}
