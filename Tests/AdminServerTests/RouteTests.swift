import AdminServer
import HTTPTypes
import MerchantCore
import RESTKit
import Testing
import Vocabulary
import WireAPI

@Suite struct RouteTests {
    @Test("a route that changes something has a log message, and needs administer except for operator sessions")
    func changesNeedAdminister() {
        for route in AdminRoutes.all where route.effect != .reads || route.method != .get {
            // A login gives an operator only the permits that the operator has already, and an operator may sign out.
            let isForOperators = ["/v1/operator-logins", "/v1/operator-sessions"].contains(route.path)
            #expect(route.permit == (isForOperators ? .read : .administer), "\(route.path)")
            #expect(route.logMessage != nil, "\(route.path)")
        }
    }

    @Test("the paths that the client builds are routes")
    func clientPaths() throws {
        let merchant = try #require(MerchantIdentifier("merchant.com.example"))
        let hash = PublicKeyHash(of: [1])
        let partner = try #require(PartnerInternalMerchantIdentifier("a/b".replacing("/", with: "~-_+&@$!|,.;")))
        let token = try #require(MerchantTokenIdentifier(text: "DSHRMC0000+=:~.-_"))
        let calls: [(HTTPRequest.Method, String)] =
            [
                (.get, Paths.health), (.get, Paths.status), (.get, Paths.audit), (.get, Paths.openAPI),
                (.get, Paths.events), (.post, Paths.redeliverEvents), (.get, Paths.webhooks),
                (.post, Paths.webhookTest), (.post, Paths.reload),
                (.get, Paths.metrics), (.get, Paths.merchants), (.post, Paths.merchants), (.get, Paths.keys),
                (.get, Paths.merchant(merchant)), (.get, Paths.keys(of: merchant)),
                (.post, Paths.keyImport(to: merchant)), (.post, Paths.keyImport),
                (.post, Paths.certificates(of: merchant)),
                (.get, Paths.key(hash)), (.get, Paths.csr(of: hash)),
                (.get, Paths.registrations), (.post, Paths.registrations), (.post, Paths.registrationSync),
                (.get, Paths.registration(partner)), (.delete, Paths.registration(partner)),
                (.get, Paths.domainFile), (.put, Paths.domainFile), (.post, Paths.domainChecks),
                (.get, Paths.wellKnownDomainFile),
                (.get, Paths.rolls), (.get, Paths.roll("1")),
                (.post, Paths.rolls(of: merchant)), (.post, Paths.operatorLogins), (.delete, Paths.operatorSessions),
                (.post, "\(Paths.roll("1"))/finish"),
                (.get, Paths.merchantTokens), (.get, Paths.merchantToken(token)),
                (.post, Paths.merchantToken(token, .unlink)), (.put, Paths.merchantToken(token, .notificationURL)),
                (.get, Paths.merchantToken(token, .publicKey)), (.post, Paths.merchantToken(token, .notify)),
                (.get, Paths.tokenNotificationURLs(of: merchant)),
                (.post, Paths.tokenNotificationURLs(of: merchant)),
            ] + Paths.KeyTransition.allCases.map { (.post, Paths.keyTransition($0, hash)) }
        for (method, path) in calls {
            #expect(AdminRoutes.all.contains { $0.method == method && $0.matches(path) }, "\(method) \(path)")
        }
    }

    @Test("only the routes of the health, the contract and the domain file need no permit, and they only read")
    func open() {
        let open = AdminRoutes.all.filter { $0.permit == nil }
        #expect(
            Set(open.map(\.path)) == [
                "/v1/health", "/v1/openapi.yaml", "/.well-known/apple-developer-merchantid-domain-association",
            ])
        #expect(open.allSatisfy { $0.effect == .reads })
    }

    @Test("a route whose path has a parameter checks the permit for the resource that the parameter names")
    func scopes() {
        for route in AdminRoutes.all {
            #expect(route.path.contains("{") == (route.scope == .pathParameter), "\(route.path)")
        }
        #expect(
            Set(AdminRoutes.all.filter { $0.scope == .checkedByHandler }.map(\.path)) == [
                "/v1/merchants", "/v1/rolls", "/v1/audit", "/v1/events", "/v1/invitations", "/v1/merchant-tokens",
            ])
    }

    @Test("a template matches paths with as many segments, and a parameter matches one segment")
    func matching() throws {
        let route = try #require(AdminRoutes.all.first { $0.path == "/v1/keys/{publicKeyHash}/csr" })
        #expect(route.matches("/v1/keys/ab%2Fcd/csr"))
        for path in ["/v1/keys/ab/cd/csr", "/v1/keys/csr", "/v1/keys/ab/CSR", "/v1/keys/ab/csr/x"] {
            #expect(!route.matches(path), "\(path)")
        }
    }
}
