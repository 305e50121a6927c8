import AdminServer
import Foundation
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct StoryTests {
    static let merchant = "merchant.com.example.shop"

    @Test("adding a merchant with key pairs returns the CSRs; a repeated request returns the same key pairs")
    func addedWithKeyPairs() async throws {
        try await TestServer.run { server in
            func add(_ rest: String) async throws -> [[String: any Sendable]]? {
                let body = #"{"merchantIdentifier": "\#(Self.merchant)", "targetActiveKeyPairs": 3\#(rest)}"#
                let added = try await server.curl("POST", "/v1/merchants", body)
                #expect((200...201).contains(added.status), "\(added.text)")
                return try added.json()["pendingKeyPairs"] as? [[String: any Sendable]]
            }
            #expect(try await add("") == nil)
            let created = try #require(try await add(#", "generateKeyPairs": true"#))
            #expect(created.count == 3)
            for key in created {
                #expect(key["state"] as? String == "pending")
                #expect((key["csr"] as? String)?.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n") == true)
            }
            let again = try #require(try await add(#", "generateKeyPairs": true"#))
            #expect(again.map { $0["publicKeyHash"] as? String } == created.map { $0["publicKeyHash"] as? String })
        }
    }

    @Test("a merchant's first year: onboard, certify, roll, revoke, restore, destroy, remove")
    func year() async throws {
        try await TestServer.run { server in
            // 1. Onboard.
            let added = try await server.curl(
                "POST", "/v1/merchants", #"{"merchantIdentifier": "\#(Self.merchant)", "name": "Shop"}"#)
            #expect(added.status == 201)
            #expect(added.headers["location"] == "/v1/merchants/\(Self.merchant)")
            #expect(added.headers["content-type"] == "application/json")
            #expect(added.headers["cache-control"] == "no-store")
            #expect(
                added.string("merchantIdentifierHash")
                    == MerchantIdentifierHash(of: MerchantIdentifier(Self.merchant)!).hex)

            // 2. Generate two key pairs and get the CSR of each, as PEM and DER.
            var hashes: [PublicKeyHash] = []
            for body in ["", #"{"algorithm": "EC_v1", "purpose": "paymentProcessing"}"#] {
                let created = try await server.curl("POST", "/v1/merchants/\(Self.merchant)/keys", body)
                #expect(created.status == 201)
                #expect(created.string("state") == "pending")
                #expect(created.string("csr")?.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----\n") == true)
                let hash = try #require(PublicKeyHash(anySpelling: created.string("publicKeyHash") ?? ""))
                #expect(created.headers["location"] == "/v1/keys/\(hash.base64URL)")
                hashes.append(hash)
            }
            let (first, second) = (hashes[0], hashes[1])
            let pem = try await server.curl("GET", "/v1/keys/\(first.hex)/csr")
            #expect(pem.headers["content-type"] == "application/x-pem-file")
            #expect(
                pem.headers["content-disposition"]
                    == "attachment; filename=\"\(Self.merchant)-\(first.hex.prefix(8)).certSigningRequest\"")
            let der = try await server.curl(
                "GET", "/v1/keys/\(first.hex)/csr", headers: ["Accept: text/html, application/pkcs10;q=0.9"])
            #expect(der.headers["content-type"] == "application/pkcs10")
            #expect(der.text == "CSR of \(first.hex)")

            // 3. A key without a certificate cannot be promoted.
            let early = try await server.curl("POST", "/v1/keys/\(first.hex)/promote")
            #expect(early.status == 409 && early.string("code") == "keyWithoutCertificate")
            for hash in hashes {
                for _ in 1...2 {
                    let stored = try await server.curl(
                        "POST", "/v1/merchants/\(Self.merchant)/certificates", "CERT:\(hash.hex):\(Self.merchant)")
                    #expect(stored.status == 200 && stored.string("state") == "standby", "\(stored.text)")
                    #expect(try (stored.json()["certificates"] as? [any Sendable])?.count == 1)
                }
            }

            // 4. Roll from the first to the second, after a dry run.
            #expect(try await server.curl("POST", "/v1/keys/\(first.hex)/promote").status == 200)
            let dry = try await server.curl("POST", "/v1/keys/\(second.hex)/promote", #"{"dryRun": true}"#)
            #expect(try dry.json()["dryRun"] as? Bool == true)
            #expect(try await server.curl("GET", "/v1/keys/\(first.hex)").string("state") == "current")
            let rolled = try await server.curl("POST", "/v1/keys/\(second.hex)/promote", "{}")
            #expect(try (rolled.json()["transitions"] as? [any Sendable])?.count == 2)
            #expect(try await server.curl("GET", "/v1/keys/\(first.hex)").string("state") == "retiring")

            // 5. Revoke the old key. The last active key cannot be revoked unless it is compromised.
            #expect(
                try await server.curl("POST", "/v1/keys/\(first.hex)/revoke", #"{"reason": "rolled"}"#).status == 200)
            let last = try await server.curl("POST", "/v1/keys/\(second.hex)/revoke", #"{"reason": "rolled"}"#)
            #expect(last.status == 409 && last.string("code") == "lastActiveKey")
            #expect(try await server.curl("POST", "/v1/keys/\(first.hex)/restore").status == 200)
            #expect(try await server.curl("GET", "/v1/keys/\(first.hex)").string("state") == "retiring")

            // 6. Remove everything.
            for hash in hashes {
                let revoked = try await server.curl(
                    "POST", "/v1/keys/\(hash.hex)/revoke", #"{"reason": "compromised"}"#)
                #expect(revoked.status == 200)
            }
            let inUse = try await server.curl("DELETE", "/v1/merchants/\(Self.merchant)?dryRun=true")
            #expect(inUse.status == 409 && inUse.string("code") == "merchantInUse")
            let later = try await server.curl("POST", "/v1/keys/\(first.hex)/destroy")
            #expect(try (later.json()["key"] as? [String: any Sendable])?["destroyAfter"] is String)
            for hash in hashes {
                let gone = try await server.curl("POST", "/v1/keys/\(hash.hex)/destroy", #"{"afterSeconds": 0}"#)
                #expect(gone.status == 200, "\(gone.text)")
            }
            let tooLate = try await server.curl("POST", "/v1/keys/\(first.hex)/restore")
            #expect(tooLate.status == 410 && tooLate.string("code") == "keyDestroyed")
            #expect(try await server.curl("DELETE", "/v1/merchants/\(Self.merchant)?dryRun=true").status == 200)
            #expect(try await server.curl("GET", "/v1/merchants/\(Self.merchant)").status == 200)
            #expect(try await server.curl("DELETE", "/v1/merchants/\(Self.merchant)").status == 200)
            #expect(try await server.curl("GET", "/v1/merchants/\(Self.merchant)").status == 404)

            // 7. The log has one line for each action and none for a dry run. The audit has all actions.
            let actions = server.log.lines.filter { $0.hasPrefix("info ") }
            #expect(actions.filter { $0.hasPrefix("info key generated ") }.count == 2)
            #expect(actions.filter { $0.hasPrefix("info key promoted ") }.count == 2)
            #expect(actions.filter { $0.hasPrefix("info merchant removed ") }.count == 1)
            let audit = try await server.curl("GET", "/v1/audit?merchant=\(Self.merchant)&limit=1000")
            for action in ["merchantAdded", "keyGenerated", "certificateStored", "keySuperseded", "keyDestroyed"] {
                #expect(audit.text.contains("\"\(action)\""))
            }
            #expect(audit.text.contains("/curl\""))
        }
    }

    @Test("a key is found by each spelling of its publicKeyHash, whole or by a prefix")
    func spellings() async throws {
        try await TestServer.run { server in
            // In a path, the '/' of Base64 must be encoded.
            var hash: PublicKeyHash
            let added = try await server.addTwoMerchants()
            repeat {
                let created = try await server.curl("POST", "/v1/merchants/\(added.other)/keys")
                hash = try #require(PublicKeyHash(anySpelling: created.string("publicKeyHash") ?? ""))
            } while !hash.base64.contains("/")
            let encoded = hash.base64.replacing("/", with: "%2F").replacing("=", with: "%3d").replacing(
                "+", with: "%2B")
            for spelling in [
                encoded, hash.base64.replacing("/", with: "%2f"), hash.base64URL, hash.hex, hash.hex.uppercased(),
            ] {
                let reply = try await server.curl("GET", "/v1/keys/\(spelling)")
                #expect(reply.string("publicKeyHash") == hash.base64, "\(spelling): \(reply.text)")
            }
            #expect(try await server.curl("GET", "/v1/keys/\(hash.base64)").status == 404)
            for prefix in [hash.hex.prefix(10), hash.base64URL.prefix(10), hash.base64.prefix(43)] {
                let reply = try await server.curl("GET", "/v1/keys?prefix=\(prefix)")
                #expect(reply.status == 200 && reply.text.contains(hash.base64), "\(prefix): \(reply.text)")
            }
        }
    }

    @Test(
        "an import stores a key pair and its certificate; no response or log line has the private key or the passphrase"
    )
    func keyImport() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let hash = PublicKeyHash(of: [42])
            func body(_ passphrase: String, state: String = "standby") -> String {
                let key = Data("LOCKED:\(hash.hex)".utf8).base64EncodedString()
                let certificate = Data("CERT:\(hash.hex):\(added.merchant)".utf8).base64EncodedString()
                return
                    #"{"privateKey": "\#(key)", "certificate": "\#(certificate)", "passphrase": "\#(passphrase)", "state": "\#(state)", "allowExpired": true}"#
            }
            let path = "/v1/merchants/\(added.merchant)/keys/import"
            let wrong = try await server.curl("POST", path, body("open barley"))
            #expect(wrong.status == 422 && wrong.string("code") == "wrongPassphrase")
            let created = try await server.curl("POST", path, body("open sesame", state: "current"))
            #expect(created.status == 201, "\(created.text)")
            #expect(created.string("state") == "current" && created.string("origin") == "imported")
            #expect(created.headers["location"] == "/v1/keys/\(hash.base64URL)")
            let again = try await server.curl("POST", path, body("open sesame", state: "current"))
            #expect(again.status == 201 && again.string("publicKeyHash") == hash.base64)
            let elsewhere = try await server.curl(
                "POST", "/v1/merchants/\(added.other)/keys/import",
                body("open sesame").replacing(
                    Data("CERT:\(hash.hex):\(added.merchant)".utf8).base64EncodedString(),
                    with: Data("CERT:\(hash.hex):\(added.other)".utf8).base64EncodedString()))
            #expect(elsewhere.status == 409 && elsewhere.string("code") == "keyBelongsToAnotherMerchant")
            // Without a merchant in the path, the certificate names the merchant.
            let named = PublicKeyHash(of: [43])
            let file = Data("KEY:\(named.hex):\(added.other)".utf8).base64EncodedString()
            let found = try await server.curl("POST", "/v1/keys/import", #"{"privateKey": "\#(file)"}"#)
            #expect(found.status == 201 && found.string("publicKeyHash") == named.base64, "\(found.text)")
            #expect(found.string("merchantIdentifier") == added.other.rawValue)
            let none = Data("KEY:\(named.hex)".utf8).base64EncodedString()
            let missing = try await server.curl("POST", "/v1/keys/import", #"{"privateKey": "\#(none)"}"#)
            #expect(missing.status == 400 && missing.text.contains("'certificate' is missing"), "\(missing.text)")
            let log = server.log.lines.joined(separator: "\n")
            for secret in ["open sesame", "open barley", "LOCKED", Data("LOCKED:".utf8).base64EncodedString()] {
                #expect(!log.contains(secret.prefix(9)))
            }
        }
    }

    @Test("lists are sorted and paged")
    func pages() async throws {
        try await TestServer.run { server in
            for letter in "ecabd" {
                _ = try await server.curl("POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.\#(letter)"}"#)
                _ = try await server.curl("POST", "/v1/merchants/merchant.e/keys")
            }
            func allValues(_ path: String, _ name: String) async throws -> [String] {
                var found: [String] = []
                var cursor: String? = ""
                while let at = cursor {
                    let reply = try await server.curl("GET", "\(path)?limit=2" + (at.isEmpty ? "" : "&cursor=\(at)"))
                    let items = try #require(try reply.json()["items"] as? [[String: any Sendable]])
                    #expect((1...2).contains(items.count), "\(reply.text)")
                    found += items.compactMap { $0[name].map { "\($0)" } }
                    cursor = reply.string("nextCursor")
                }
                return found
            }
            #expect(try await allValues("/v1/merchants", "merchantIdentifier") == "abcde".map { "merchant.\($0)" })
            let sequences = try await allValues("/v1/audit", "sequence")
            #expect(sequences == (1...10).reversed().map(String.init))
            #expect(try await Set(allValues("/v1/merchants/merchant.e/keys", "publicKeyHash")).count == 5)
        }
    }

    @Test("status, metrics, health and the contract have the expected content")
    func watching() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            _ = try await server.curl("POST", "/v1/certificates", "CERT:\(added.key.hex):\(added.merchant)")
            let status = try await server.curl("GET", "/v1/status")
            #expect(status.string("version") == "1.2.3" && status.string("environment") == "sandbox")
            #expect(try (status.json()["keyPairs"] as? [String: Int])?.count == KeyState.allCases.count)
            #expect(status.text.contains(#""code":"belowTarget""#))
            #expect(try await server.curl("GET", "/nonsense").status == 404)
            let metrics = try await server.curl("GET", "/metrics")
            #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let ends = server.clock.now.adding(.seconds(700 * 86_400)).millisecondsSince1970 / 1000
            for line in [
                "merchantkeyd_merchants 2", "merchantkeyd_merchants_below_target 2",
                #"merchantkeyd_key_pairs{state="standby"} 1"#, #"merchantkeyd_key_pairs{state="pending"} 1"#,
                "merchantkeyd_certificates 1", "merchantkeyd_certificate_earliest_expiry_timestamp_seconds \(ends)",
                #"merchantkeyd_http_requests_total{server="admin",method="GET",route="/v1/status",status="200"} 1"#,
                #"merchantkeyd_http_requests_total{server="admin",method="other",route="other",status="404"} 1"#,
                #"merchantkeyd_build_info{version="1.2.3"} 1"#,
            ] { #expect(metrics.text.contains("\n\(line)\n"), "\(line)") }
            #expect(metrics.text.firstMatch(of: /\nprocess_resident_memory_bytes [0-9]{6,}\n/) != nil)
            let health = try await server.curl("GET", "/v1/health")
            #expect(health.status == 200 && health.text == #"{"live":true,"ready":true,"reasons":[]}"#)
            let contract = try await server.curl("GET", "/v1/openapi.yaml")
            #expect(
                Array(contract.body) == TestServer.openAPI && contract.headers["content-type"] == "application/yaml")
        }
    }

    @Test("health is 503 with the reasons while the daemon is not ready")
    func notReady() async throws {
        try await TestServer.run(ready: false) { server in
            let health = try await server.curl("GET", "/v1/health")
            #expect(health.status == 503 && health.text.contains("the clock jumped"))
        }
    }

    @Test("the response to HEAD is that to GET without the content")
    func head() async throws {
        try await TestServer.run { server in
            for path in ["/v1/health", "/nonsense"] {
                let head = try await server.curl("HEAD", path)
                let get = try await server.curl("GET", path)
                #expect(head.status == get.status && head.body.isEmpty)
                #expect(head.headers["content-length"] == get.headers["content-length"])
            }
        }
    }
}
