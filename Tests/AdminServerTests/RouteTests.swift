import HTTPTypes
import MerchantCore
import Testing
import Vocabulary
import WireAPI

import AdminServer

@Suite struct RouteTests {
    /// What a reviewer should read first: a new route, or another permit, changes this list.
    static let expected = """
        GET /v1/merchants read reads
        POST /v1/merchants administer writes
        GET /v1/merchants/{merchantIdentifier} read reads
        PATCH /v1/merchants/{merchantIdentifier} administer writes
        DELETE /v1/merchants/{merchantIdentifier} administer destroys
        GET /v1/merchants/{merchantIdentifier}/keys read reads
        POST /v1/merchants/{merchantIdentifier}/keys administer writes
        POST /v1/merchants/{merchantIdentifier}/keys/import administer writes
        POST /v1/merchants/{merchantIdentifier}/certificates administer writes
        POST /v1/certificates administer writes
        GET /v1/keys read reads
        GET /v1/keys/{publicKeyHash} read reads
        GET /v1/keys/{publicKeyHash}/csr read reads
        POST /v1/keys/{publicKeyHash}/promote administer writes
        POST /v1/keys/{publicKeyHash}/revoke administer destroys
        POST /v1/keys/{publicKeyHash}/restore administer writes
        POST /v1/keys/{publicKeyHash}/destroy administer destroys
        GET /v1/registrations read reads
        POST /v1/registrations administer writes
        GET /v1/registrations/{partnerInternalMerchantIdentifier} read reads
        DELETE /v1/registrations/{partnerInternalMerchantIdentifier} administer destroys
        POST /v1/registrations/sync administer writes
        GET /v1/domain-file read reads
        PUT /v1/domain-file administer writes
        POST /v1/domain-checks administer writes
        GET /.well-known/apple-developer-merchantid-domain-association - reads
        POST /v1/merchants/{merchantIdentifier}/rolls administer writes
        GET /v1/rolls read reads
        GET /v1/rolls/{rollId} read reads
        POST /v1/rolls/{rollId}/finish administer destroys
        POST /v1/rolls/{rollId}/abandon administer destroys
        GET /v1/status read reads
        GET /v1/audit read reads
        GET /v1/audit/verification read reads
        POST /v1/backups administer writes
        POST /v1/backups/verification administer writes
        GET /v1/master-key read reads
        POST /v1/master-key/rotation administer destroys
        GET /v1/events read reads
        POST /v1/events/redeliver administer writes
        GET /metrics read reads
        GET /v1/health - reads
        GET /v1/openapi.yaml - reads
        """

    @Test("the routes, their permits and their effects are the ones on record")
    func onRecord() {
        let found = AdminRoute.all.map {
            "\($0.method.rawValue) \($0.path) \($0.permit?.rawValue ?? "-") \($0.effect.rawValue)"
        }
        #expect(found.joined(separator: "\n") == Self.expected)
    }

    @Test("whatever changes something needs the permit administer and says in the log what was done")
    func changesNeedAdminister() {
        for route in AdminRoute.all where route.effect != .reads || route.method != .get {
            #expect(route.permit == .administer, "\(route.path)")
            #expect(route.action != nil, "\(route.path)")
        }
    }

    @Test("the paths that the client builds are routes")
    func clientPaths() throws {
        let table = RouteTable(AdminRoute.all)
        let merchant = try #require(MerchantIdentifier("merchant.com.example"))
        let hash = PublicKeyHash(of: [1])
        let partner = try #require(PartnerInternalMerchantIdentifier("a/b".replacing("/", with: "~-_+&@$!|,.;")))
        let calls: [(HTTPRequest.Method, String)] =
            [
                (.get, Paths.health), (.get, Paths.status), (.get, Paths.audit), (.get, Paths.openAPI),
                (.get, Paths.events), (.post, Paths.redeliverEvents),
                (.get, Paths.metrics), (.get, Paths.merchants), (.post, Paths.merchants), (.get, Paths.keys),
                (.get, Paths.merchant(merchant)), (.get, Paths.keys(of: merchant)),
                (.post, Paths.keyImport(to: merchant)), (.post, Paths.certificates(of: merchant)),
                (.get, Paths.key(hash)), (.get, Paths.csr(of: hash)),
                (.get, Paths.registrations), (.post, Paths.registrations), (.post, Paths.registrationSync),
                (.get, Paths.registration(partner)), (.delete, Paths.registration(partner)),
                (.get, Paths.domainFile), (.put, Paths.domainFile), (.post, Paths.domainChecks),
                (.get, Paths.wellKnownDomainFile),
                (.get, Paths.rolls), (.get, Paths.roll("1")),
                (.post, Paths.rolls(of: merchant)), (.post, "\(Paths.roll("1"))/finish"),
            ] + Paths.KeyTransition.allCases.map { (.post, Paths.keyTransition($0, hash)) }
        for (method, path) in calls {
            guard case .route = table.find(method, path[...]) else {
                Issue.record("no route for \(method) \(path)")
                continue
            }
        }
    }

    @Test("an encoded slash does not split a path, an empty part is a part")
    func paths() {
        let table = RouteTable(AdminRoute.all)
        guard case .route(let route, let parameter) = table.find(.get, "/v1/keys/ab%2Fcd/csr") else {
            Issue.record("no route")
            return
        }
        #expect(route.path == "/v1/keys/{publicKeyHash}/csr")
        #expect(parameter == "ab%2Fcd")
        for path in ["", "/", "//v1/merchants", "/v1/merchants//keys/", "/V1/merchants", "v1/merchants", "*"] {
            guard case .nothing = table.find(.get, path[...]) else {
                Issue.record("found a route for \(path)")
                continue
            }
        }
    }

    @Test("percent-encoding is undone exactly, and refused where it is broken or hides bytes that are not UTF-8")
    func percentEncoding() throws {
        #expect(try RequestTarget.decode("a%2Fb%2bc+d%C3%A9", as: "it") == "a/b+c+dé")
        for broken in ["%", "%2", "%zz", "%+1", "%ff", "%C3", "a%00%80"] {
            #expect(throws: MerchantError.self, "\(broken)") { try RequestTarget.decode(broken[...], as: "it") }
        }
    }
}
