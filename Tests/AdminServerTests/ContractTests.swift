import AdminServer
import Foundation
import HTTPTypes
import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary
import WireAPI
import Yams

/// Compares `schema/openapi.yaml` with the program.
@Suite struct ContractTests {
    static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("schema/openapi.yaml")

    let contract: Node

    init() throws { contract = try #require(try Yams.compose(yaml: String(contentsOf: Self.url, encoding: .utf8))) }

    /// Follows a `$ref`, if the node is one.
    private func resolved(_ node: Node) -> Node {
        guard let reference = node["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(contract) { $0[String($1)] ?? "missing" }
    }

    private struct Operation {
        let permit: String
        /// `x-effect`; without it a `GET` reads and anything else writes.
        let effect: String
        let query: Set<String>
    }

    /// The operations of a socket by method and path, such as `GET /v1/health`.
    private func operations(of socket: String) throws -> [String: Operation] {
        var found: [String: Operation] = [:]
        for (path, item) in try #require(contract["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where method.string != "parameters" {
                guard let permit = operation["x-sockets"]?[socket]?.string else { continue }
                let parameters = (operation["parameters"]?.sequence.map(Array.init) ?? []).map(resolved).filter {
                    $0["in"]?.string == "query"
                        && ($0["x-sockets"]?.sequence.map { $0.contains { $0.string == socket } } ?? true)
                }
                found["\(method.string?.uppercased() ?? "") \(path.string ?? "")"] = Operation(
                    permit: permit,
                    effect: operation["x-effect"]?.string ?? (method.string == "get" ? "reads" : "writes"),
                    query: Set(parameters.compactMap { $0["name"]?.string }))
            }
        }
        return found
    }

    @Test("the admin's routes are the contract's, with their permits, effects and query parameters")
    func adminRoutes() throws {
        let contract = try operations(of: "admin")
        #expect(Set(contract.keys) == Set(AdminRoute.all.map { "\($0.method.rawValue) \($0.path)" }))
        for route in AdminRoute.all {
            let operation = contract["\(route.method.rawValue) \(route.path)"]
            #expect(operation?.permit == route.permit?.rawValue ?? "none", "\(route.path)")
            #expect(operation?.query == route.query, "\(route.path)")
            #expect(operation?.effect == route.effect.rawValue, "\(route.path)")
        }
    }

    @Test("the decryptor's routes are the contract's")
    func decryptorRoutes() throws {
        #expect(
            try operations(of: "decryptor").mapValues(\.permit) == [
                "GET /v1/keys/{publicKeyHash}": "resolve",
                "POST /v1/keys/{publicKeyHash}/symmetric-key": "symmetricKey",
                "POST /v1/payment-tokens/verify": "decrypt", "POST /v1/payment-tokens/decrypt": "decrypt",
                "GET /v1/health": "none",
            ])
    }

    @Test("every operation has a socket and a unique name")
    func operations() throws {
        var names: Set<String> = []
        for (path, item) in try #require(contract["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where method.string != "parameters" {
                let sockets = operation["x-sockets"]?.mapping?.keys.compactMap(\.string) ?? []
                #expect(!sockets.isEmpty && Set(sockets).isSubset(of: ["admin", "decryptor"]), "\(path)")
                #expect(names.insert(try #require(operation["operationId"]?.string)).inserted)
            }
        }
    }

    private func strings(_ schema: String, _ member: String) -> [String] {
        contract["components"]?["schemas"]?[schema]?[member]?.sequence?.compactMap(\.string) ?? []
    }

    @Test("the contract lists every problem's code, state, algorithm and purpose")
    func words() {
        #expect(
            strings("ProblemCode", "enum")
                == MerchantError.Code.allCases.map(\.rawValue) + [
                    "methodNotAllowed", "requestTimeout", "notImplemented",
                ])
        #expect(strings("KeyState", "enum") == KeyState.allCases.map(\.rawValue))
        #expect(strings("RollState", "enum") == RollState.allCases.map(\.rawValue))
        #expect(strings("KeyAlgorithm", "enum") == KeyAlgorithm.allCases.map(\.rawValue))
        #expect(strings("KeyPurpose", "enum") == KeyPurpose.allCases.map(\.rawValue))
        #expect(strings("DriftKind", "enum") == RegistrationDrift.Kind.allCases.map(\.rawValue))
        #expect(strings("DomainCheckKind", "enum") == DomainCheckFinding.codes)
        #expect(strings("EventKind", "enum") == Event.Kind.allCases.map(\.rawValue))
        #expect(strings("Severity", "enum") == Event.Severity.allCases.map(\.rawValue))
    }

    /// The wire type of each schema.
    private static var wireTypes: [(schema: String, type: any Decodable.Type)] {
        [
            ("MerchantDocument", MerchantDocument.self), ("MerchantPage", Page<MerchantDocument>.self),
            ("AddMerchantRequest", AddMerchantRequest.self), ("ChangeMerchantRequest", ChangeMerchantRequest.self),
            ("KeyDocument", KeyDocument.self), ("KeyPage", Page<KeyDocument>.self),
            ("KeyUseDocument", KeyUseDocument.self),
            ("ObservedUse", KeyUseDocument.Observed.self), ("CertificateDocument", CertificateDocument.self),
            ("KeyTransitionDocument", KeyTransitionDocument.self),
            ("KeyTransition", KeyTransitionDocument.Transition.self), ("GenerateKeyRequest", GenerateKeyRequest.self),
            ("ImportKeyRequest", ImportKeyRequest.self), ("KeyTransitionRequest", KeyTransitionRequest.self),
            ("RevokeKeyRequest", RevokeKeyRequest.self), ("DestroyKeyRequest", DestroyKeyRequest.self),
            ("RollDocument", RollDocument.self), ("RollPage", Page<RollDocument>.self),
            ("StartRollRequest", StartRollRequest.self), ("FinishRollRequest", FinishRollRequest.self),
            ("AbandonRollRequest", AbandonRollRequest.self), ("RegistrationDocument", RegistrationDocument.self),
            ("RegistrationPage", Page<RegistrationDocument>.self), ("DriftDocument", DriftDocument.self),
            ("FailureDocument", FailureDocument.self), ("WithdrawalDocument", WithdrawalDocument.self),
            ("SyncDocument", SyncDocument.self), ("SyncFinding", SyncDocument.Finding.self),
            ("RegisterRequest", RegisterRequest.self), ("UnregisterRequest", UnregisterRequest.self),
            ("SyncRequest", SyncRequest.self), ("DomainFileDocument", DomainFileDocument.self),
            ("DomainCheckDocument", DomainCheckDocument.self), ("DomainCheckFinding", DomainCheckDocument.Finding.self),
            ("DomainCheckRequest", DomainCheckRequest.self), ("StatusDocument", StatusDocument.self),
            ("Finding", StatusDocument.Finding.self), ("FindingItem", StatusDocument.Finding.Item.self),
            ("EndingWeek", StatusDocument.Week.self), ("WaitingDestruction", StatusDocument.Destruction.self),
            ("Webhook", StatusDocument.Webhook.self), ("HealthDocument", HealthDocument.self),
            ("EventDocument", EventDocument.self), ("EventPage", Page<EventDocument>.self),
            ("RedeliverEventsRequest", RedeliverEventsRequest.self),
            ("RedeliveredEventsDocument", RedeliveredEventsDocument.self),
            ("AuditRecordDocument", AuditRecordDocument.self), ("Caller", AuditRecordDocument.CallerDocument.self),
            ("AuditHead", AuditHeadDocument.self), ("AuditBreak", AuditBreakDocument.self),
            ("AuditVerificationDocument", AuditVerificationDocument.self), ("BackupRequest", BackupRequest.self),
            ("BackupDocument", BackupDocument.self), ("BackupVerificationDocument", BackupVerificationDocument.self),
            ("BackupCoverageDocument", BackupCoverageDocument.self),
            ("RotateMasterKeyRequest", RotateMasterKeyRequest.self), ("MasterKeyDocument", MasterKeyDocument.self),
            ("MasterKeyRotation", MasterKeyDocument.Rotation.self), ("RotationPlanDocument", RotationPlanDocument.self),
            ("Problem", Problem.self), ("ResolvedKeyDocument", ResolvedKeyDocument.self),
            ("SymmetricKeyRequest", SymmetricKeyRequest.self), ("SymmetricKeyDocument", SymmetricKeyDocument.self),
            ("AuthorizationDocument", AuthorizationDocument.self), ("VerificationDocument", VerificationDocument.self),
            ("CheckDocument", CheckDocument.self),
        ]
    }

    @Test(
        "each wire type has the fields of its schema, neither more nor fewer, and decodes a document that has them all")
    func fields() throws {
        for (name, type) in Self.wireTypes {
            let schema = try #require(contract["components"]?["schemas"]?[name], "\(name)")
            let properties = Set(schema["properties"]?.mapping?.keys.compactMap(\.string) ?? [])
            let json = try JSONSerialization.data(withJSONObject: example(of: schema))
            let fields = try #require(
                try? Self.fields(of: type, decodedFrom: json), "\(name): \(String(decoding: json, as: UTF8.self))")
            #expect(fields == properties, "\(name)")
        }
    }

    private static func fields<Document: Decodable>(of type: Document.Type, decodedFrom json: Data) throws -> Set<
        String
    > {
        Set(Mirror(reflecting: try JSONDecoder().decode(type, from: json)).children.compactMap(\.label))
    }

    /// A value of the schema, with every property.
    private func example(of schema: Node) throws -> Any {
        switch schema["$ref"]?.string?.split(separator: "/").last {
        case "MerchantIdentifier": return "merchant.com.example"
        case "PartnerInternalMerchantIdentifier": return "shop-1"
        case "DomainName": return "shop.example.com"
        case "PublicKeyHash": return "aXryfzzhfHFLCl+guEkcYpVd1R+mPYEmmeu1N4aR2Ls="
        case "SHA256Hex": return String(repeating: "ab", count: 32)
        case "Time": return "2026-11-21T04:53:15Z"
        default: break
        }
        let schema = resolved(schema)
        if schema["$ref"] != nil { return try example(of: schema) }
        if let first = schema["enum"]?.sequence?.first?.string { return first }
        switch schema["type"]?.string {
        case "string": return ""
        case "boolean": return true
        case "integer": return schema["minimum"]?.int ?? 1
        case "number": return 1
        case "array": return [try example(of: try #require(schema["items"]))]
        default:
            var object: [String: Any] = [:]
            for (name, property) in schema["properties"]?.mapping ?? [:] {
                object[try #require(name.string)] = try example(of: property)
            }
            return object
        }
    }

    // MARK: With Python's openapi-spec-validator and jsonschema

    static let hasPython = runs("import openapi_spec_validator, jsonschema, yaml")

    private static func runs(_ code: String) -> Bool { ChildProcess.succeeds("python3", "-c", code) }

    @Test("the contract is valid OpenAPI 3.1", .enabled(if: hasPython, "needs Python's openapi-spec-validator"))
    func isValid() {
        #expect(
            Self.runs(
                "import yaml, openapi_spec_validator as v; v.validate(yaml.safe_load(open('\(Self.url.path)')))"))
    }

    /// Reads lines of `schema name, tab, JSON` and prints the errors of each document.
    private static let validator = """
        import json, sys, warnings, yaml
        warnings.simplefilter("ignore")
        from jsonschema import Draft202012Validator
        contract = yaml.safe_load(open(sys.argv[1]))
        for line in sys.stdin:
            name, text = line.rstrip("\\n").split("\\t")
            schema = {"$ref": "#/components/schemas/" + name, "components": contract["components"]}
            for error in Draft202012Validator(schema).iter_errors(json.loads(text)):
                print(name, list(error.path), error.message[:200])
        """

    @Test(
        "every response of the server is valid by the contract's schemas",
        .enabled(if: hasPython, "needs Python's jsonschema"))
    func answersFit() async throws {
        try await TestServer.run { server in
            let stock = try await server.stock()
            let key = "/v1/keys/\(stock.key.base64URL)"
            let calls: [(schema: String, method: String, path: String, body: String?)] = [
                ("MerchantDocument", "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.x", "name": "X"}"#),
                ("MerchantPage", "GET", "/v1/merchants?limit=1", nil),
                ("MerchantDocument", "PATCH", "/v1/merchants/merchant.x", #"{"targetActiveKeyPairs": 3}"#),
                ("MerchantDocument", "DELETE", "/v1/merchants/merchant.x", nil),
                ("KeyDocument", "POST", "/v1/merchants/\(stock.merchant)/keys", nil),
                ("KeyDocument", "POST", "/v1/certificates", "CERT:\(stock.key.hex):\(stock.merchant)"),
                ("KeyDocument", "GET", key, nil),
                ("KeyPage", "GET", "/v1/merchants/\(stock.merchant)/keys", nil),
                ("KeyPage", "GET", "/v1/keys?prefix=\(stock.key.hex.prefix(8))", nil),
                ("KeyTransitionDocument", "POST", "\(key)/promote", nil),
                ("RollDocument", "POST", "/v1/merchants/\(stock.merchant)/rolls", #"{"algorithm": "EC_v1"}"#),
                ("RollPage", "GET", "/v1/rolls?state=open", nil), ("RollDocument", "GET", "/v1/rolls/1", nil),
                ("StatusDocument", "GET", "/v1/status", nil),
                ("RollDocument", "POST", "/v1/rolls/1/abandon", nil),
                ("Problem", "POST", "/v1/rolls/1/finish", nil), ("Problem", "GET", "/v1/rolls/none", nil),
                ("KeyTransitionDocument", "POST", "\(key)/revoke", #"{"reason": "compromised"}"#),
                ("KeyTransitionDocument", "POST", "\(key)/destroy", nil),
                ("KeyDocument", "GET", key, nil),
                (
                    "RegistrationDocument", "POST", "/v1/registrations",
                    #"{"partnerInternalMerchantIdentifier": "shop|1", "partnerMerchantName": "S", "encryptTo": "merchant.e", "domainNames": ["BÜCHER.example"]}"#
                ),
                ("RegistrationDocument", "GET", "/v1/registrations/shop%7C1?refresh=true", nil),
                ("RegistrationPage", "GET", "/v1/registrations", nil),
                ("SyncDocument", "POST", "/v1/registrations/sync", nil),
                ("WithdrawalDocument", "DELETE", "/v1/registrations/shop%7C1", #"{"reason": "r"}"#),
                ("DomainFileDocument", "PUT", "/v1/domain-file", "0011"),
                ("DomainFileDocument", "GET", "/v1/domain-file", nil),
                ("AuditPage", "GET", "/v1/audit?limit=1000", nil),
                ("AuditVerificationDocument", "GET", "/v1/audit/verification", nil),
                ("EventPage", "GET", "/v1/events?limit=2", nil), ("EventPage", "GET", "/v1/events?newest=true", nil),
                ("RedeliveredEventsDocument", "POST", "/v1/events/redeliver", nil),
                ("KeyPage", "GET", "/v1/keys?state=destroyed", nil),
                ("HealthDocument", "GET", "/v1/health", nil),
                ("Problem", "GET", "/v1/keys/short", nil), ("Problem", "PUT", "/v1/keys/short", nil),
                ("Problem", "GET", "/nowhere", nil),
            ]
            var lines = ""
            for call in calls {
                let reply = try await server.curl(call.method, call.path, call.body.map { Data($0.utf8) })
                #expect(reply.status < 300 || call.schema == "Problem", "\(call): \(reply.text)")
                lines += "\(call.schema)\t\(reply.text)\n"
            }
            // An invalid document must be found, otherwise the validation has no effect.
            lines += "HealthDocument\t{\"live\": 1}\n"
            let findings = try await TestServer.run(
                "python3", ["-c", Self.validator, Self.url.path], input: Data(lines.utf8))
            let found = String(decoding: findings, as: UTF8.self).split(separator: "\n")
            #expect(found.count == 3 && found.allSatisfy { $0.hasPrefix("HealthDocument ") }, "\(found)")
        }
    }
}
