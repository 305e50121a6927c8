import AdminServer
import Foundation
import HTTPTypes
import MerchantCore
import MerchantTestSupport
import RESTKit
import ServerKit
import Testing
import Vocabulary
import WireAPI
import Yams

/// Compares `schema/openapi.yaml` with the program.
@Suite struct ContractTests {
    let contract: OpenAPIDocument

    init() throws { contract = try OpenAPIDocument() }

    @Test("the routes of the admin socket are those of the contract, with their permits, effects and query parameters")
    func adminRoutes() throws {
        let documented = contract.operations(of: "admin")
        #expect(Set(documented.keys) == Set(AdminRoutes.all.map { "\($0.method.rawValue) \($0.path)" }))
        for route in AdminRoutes.all {
            let operation = documented["\(route.method.rawValue) \(route.path)"]
            #expect(operation?.permit == route.permit?.rawValue ?? "none", "\(route.path)")
            #expect(operation?.query == route.query, "\(route.path)")
            #expect(operation?.effect == route.effect.rawValue, "\(route.path)")
        }
    }

    @Test("a request to the wrong socket gets an error with the name of a socket that serves its path")
    func misdirected() throws {
        var sockets: [String: Set<String>] = [:]
        for socket in ["admin", "decryptor", "issuer", "portal"] {
            for name in contract.operations(of: socket).keys {
                sockets[String(name.split(separator: " ")[1]), default: []].insert(socket)
            }
        }
        for (path, serving) in sockets where path.hasPrefix("/v1/") {
            let local = serving.subtracting(["portal"])
            // Not a path that every socket serves, such as the health, and not a path that only the portal serves.
            let isOfSomeSockets = !local.isEmpty && local.count < DaemonSocket.allCases.count
            let named = DaemonSocket.serving(path)
            #expect(!isOfSomeSockets || named.map { local.contains($0.rawValue) } == true, "\(path)")
            for socket in DaemonSocket.allCases where isOfSomeSockets && !serving.contains(socket.rawValue) {
                let error = socket.misdirected(path)
                #expect(error?.code == .notFound, "\(path)")
                #expect(error?.detail.contains("sockets.\(named?.rawValue ?? "-").path") == true, "\(path)")
            }
        }
        #expect(DaemonSocket.serving("/v1/health") == nil && DaemonSocket.serving("/v1/keys/") == nil)
        #expect(DaemonSocket.serving("/v1/keys/ab/cd=") == nil && DaemonSocket.serving("/metrics") == nil)
    }

    @Test("every operation has a socket and a unique name")
    func operations() throws {
        var names: Set<String> = []
        for (path, item) in try #require(contract.root["paths"]?.mapping) {
            for (method, operation) in try #require(item.mapping) where method.string != "parameters" {
                let sockets = operation["x-sockets"]?.mapping?.keys.compactMap(\.string) ?? []
                #expect(
                    !sockets.isEmpty && Set(sockets).isSubset(of: ["admin", "decryptor", "issuer", "portal"]), "\(path)"
                )
                #expect(names.insert(try #require(operation["operationId"]?.string)).inserted)
            }
        }
    }

    private func strings(_ schema: String, _ member: String) -> [String] {
        contract.root["components"]?["schemas"]?[schema]?[member]?.sequence?.compactMap(\.string) ?? []
    }

    @Test("the contract lists exactly the error codes, states, kinds and other names of the program")
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
        #expect(strings("MerchantTokenState", "enum") == MerchantToken.State.allCases.map(\.rawValue))
        #expect(strings("Severity", "enum") == Event.Severity.allCases.map(\.rawValue))
    }

    /// The wire type of each schema.
    private static var wireTypes: [(schema: String, type: any Decodable.Type)] {
        [
            ("MerchantDocument", MerchantDocument.self), ("MerchantPage", Page<MerchantDocument>.self),
            ("AddMerchantRequest", AddMerchantRequest.self), ("ChangeMerchantRequest", ChangeMerchantRequest.self),
            ("KeyDocument", KeyDocument.self), ("KeyPage", Page<KeyDocument>.self),
            ("KeyUseDocument", KeyUseDocument.self),
            ("ObservedUse", KeyUseDocument.UseSummary.self), ("CertificateDocument", CertificateDocument.self),
            ("KeyTransitionDocument", KeyTransitionDocument.self),
            ("KeyTransition", KeyTransitionDocument.Transition.self), ("GenerateKeyRequest", GenerateKeyRequest.self),
            ("ImportKeyRequest", ImportKeyRequest.self), ("KeyTransitionRequest", KeyTransitionRequest.self),
            ("RevokeKeyRequest", RevokeKeyRequest.self), ("DestroyKeyRequest", DestroyKeyRequest.self),
            ("RollDocument", RollDocument.self), ("RollPage", Page<RollDocument>.self),
            ("StartRollRequest", StartRollRequest.self), ("FinishRollRequest", FinishRollRequest.self),
            ("AbandonRollRequest", AbandonRollRequest.self), ("RegistrationDocument", RegistrationDocument.self),
            ("RegistrationPage", Page<RegistrationDocument>.self), ("DriftDocument", DriftDocument.self),
            ("FailureDocument", FailureDocument.self), ("UnregistrationDocument", UnregistrationDocument.self),
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
            ("WebhookDocument", WebhookDocument.self), ("WebhookPage", Page<WebhookDocument>.self),
            ("TestWebhookRequest", TestWebhookRequest.self), ("WebhookTestDocument", WebhookTestDocument.self),
            ("AuditRecordDocument", AuditRecordDocument.self), ("Caller", AuditRecordDocument.CallerDocument.self),
            ("AuditBreak", AuditBreakDocument.self),
            ("AuditVerificationDocument", AuditVerificationDocument.self), ("BackupRequest", BackupRequest.self),
            ("BackupVerificationRequest", BackupVerificationRequest.self),
            ("BackupDocument", BackupDocument.self), ("BackupVerificationDocument", BackupVerificationDocument.self),
            ("BackupCoverageDocument", BackupCoverageDocument.self),
            ("RotateMasterKeyRequest", RotateMasterKeyRequest.self), ("MasterKeyDocument", MasterKeyDocument.self),
            ("MasterKeyRotation", MasterKeyDocument.Rotation.self), ("RotationPlanDocument", RotationPlanDocument.self),
            ("ReloadRequest", ReloadRequest.self), ("ReloadDocument", ReloadDocument.self),
            ("ChangedValue", ReloadDocument.ChangedValue.self), ("PendingSetting", ReloadDocument.PendingSetting.self),
            ("Problem", Problem.self), ("ResolvedKeyDocument", ResolvedKeyDocument.self),
            ("SymmetricKeyRequest", SymmetricKeyRequest.self), ("SymmetricKeyDocument", SymmetricKeyDocument.self),
            ("AuthorizationDocument", AuthorizationDocument.self), ("VerificationDocument", VerificationDocument.self),
            ("CheckDocument", CheckDocument.self), ("AccessDocument", AccessDocument.self),
            ("AccessToken", AccessDocument.Token.self), ("AccessPage", Page<AccessDocument>.self),
            ("CreateAccessRequest", CreateAccessRequest.self), ("RotateAccessRequest", RotateAccessRequest.self),
            ("InvitationDocument", InvitationDocument.self), ("InvitationPage", Page<InvitationDocument>.self),
            ("CreateInvitationRequest", CreateInvitationRequest.self),
            ("OperatorLoginDocument", OperatorLoginDocument.self),
            ("EndedOperatorSessionsDocument", EndedOperatorSessionsDocument.self),
            ("EncryptedPassDocument", EncryptedPassDocument.self), ("InputFinding", InputFindingDocument.self),
            ("MerchantTokenReport", MerchantTokenReportDocument.self),
            ("MerchantTokenDocument", MerchantTokenDocument.self),
            ("MerchantTokenPage", Page<MerchantTokenDocument>.self),
            ("MerchantTokenLastEvent", MerchantTokenDocument.LastEvent.self),
            ("MerchantTokenCard", MerchantTokenCardDocument.self),
            ("MerchantTokenCardArt", MerchantTokenCardDocument.CardArt.self),
            ("MerchantTokenPublicKeyDocument", MerchantTokenPublicKeyDocument.self),
            ("SetTokenNotificationURLRequest", SetTokenNotificationURLRequest.self),
            ("TokenNotificationURLDocument", TokenNotificationURLDocument.self),
            ("TokenNotificationURLPage", Page<TokenNotificationURLDocument>.self),
            ("OnboardingDocument", OnboardingDocument.self),
            ("OnboardingStep", OnboardingDocument.Step.self),
            ("MerchantSessionRequest", MerchantSessionRequest.self),
        ]
    }

    @Test(
        "each wire type has the fields of its schema, neither more nor fewer, and decodes a document that has them all")
    func fields() throws {
        for (name, type) in Self.wireTypes {
            let schema = try #require(contract.root["components"]?["schemas"]?[name], "\(name)")
            let properties = Set(schema["properties"]?.mapping?.keys.compactMap(\.string) ?? [])
            let json = try JSONSerialization.data(withJSONObject: contract.example(of: schema))
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

    // MARK: With Python's openapi-spec-validator and jsonschema

    static let hasPython = runs("import openapi_spec_validator, jsonschema, yaml")

    private static func runs(_ code: String) -> Bool { ChildProcess.succeeds("python3", "-c", code) }

    @Test("the contract is valid OpenAPI 3.1", .enabled(if: hasPython, "needs Python's openapi-spec-validator"))
    func isValid() {
        #expect(
            Self.runs(
                "import yaml, openapi_spec_validator as v; v.validate(yaml.safe_load(open('\(OpenAPIDocument.url.path)')))"
            ))
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
            let added = try await server.addTwoMerchants()
            let key = "/v1/keys/\(added.key.base64URL)"
            let calls: [(schema: String, method: String, path: String, body: String?)] = [
                ("MerchantDocument", "POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.x", "name": "X"}"#),
                ("MerchantPage", "GET", "/v1/merchants?limit=1", nil),
                ("MerchantDocument", "PATCH", "/v1/merchants/merchant.x", #"{"targetActiveKeyPairs": 3}"#),
                ("MerchantDocument", "DELETE", "/v1/merchants/merchant.x", nil),
                ("KeyDocument", "POST", "/v1/merchants/\(added.merchant)/keys", nil),
                ("KeyDocument", "POST", "/v1/certificates", "CERT:\(added.key.hex):\(added.merchant)"),
                ("KeyDocument", "GET", key, nil),
                ("KeyPage", "GET", "/v1/merchants/\(added.merchant)/keys", nil),
                ("KeyPage", "GET", "/v1/keys?prefix=\(added.key.hex.prefix(8))", nil),
                ("KeyTransitionDocument", "POST", "\(key)/promote", nil),
                ("RollDocument", "POST", "/v1/merchants/\(added.merchant)/rolls", #"{"algorithm": "EC_v1"}"#),
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
                ("UnregistrationDocument", "DELETE", "/v1/registrations/shop%7C1", #"{"reason": "r"}"#),
                ("DomainFileDocument", "PUT", "/v1/domain-file", "0011"),
                ("DomainFileDocument", "GET", "/v1/domain-file", nil),
                ("DomainCheckDocument", "POST", "/v1/domain-checks", #"{"domainName": "shop.example"}"#),
                ("BackupDocument", "POST", "/v1/backups", #"{"file": "/b"}"#),
                ("BackupVerificationDocument", "POST", "/v1/backups/verification", #"{"file": "/b"}"#),
                ("RotationPlanDocument", "POST", "/v1/master-key/rotation", nil),
                ("MasterKeyDocument", "GET", "/v1/master-key", nil),
                ("AuditPage", "GET", "/v1/audit?limit=1000", nil),
                ("AuditVerificationDocument", "GET", "/v1/audit/verification", nil),
                ("EventPage", "GET", "/v1/events?limit=2", nil), ("EventPage", "GET", "/v1/events?newest=true", nil),
                ("RedeliveredEventsDocument", "POST", "/v1/events/redeliver", nil),
                ("WebhookPage", "GET", "/v1/webhooks", nil), ("NodePage", "GET", "/v1/nodes", nil),
                ("Problem", "DELETE", "/v1/nodes/none", nil),
                ("WebhookTestDocument", "POST", "/v1/webhooks/test", #"{"webhook": "ops"}"#),
                ("WebhookTestDocument", "POST", "/v1/webhooks/test", #"{"webhook": "broken"}"#),
                ("Problem", "POST", "/v1/webhooks/test", #"{"webhook": "none"}"#),
                ("ReloadDocument", "POST", "/v1/reload", nil),
                ("ReloadDocument", "POST", "/v1/reload", #"{"dryRun": true}"#),
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
                "python3", ["-c", Self.validator, OpenAPIDocument.url.path], input: Data(lines.utf8))
            let found = String(decoding: findings, as: UTF8.self).split(separator: "\n")
            #expect(found.count == 3 && found.allSatisfy { $0.hasPrefix("HealthDocument ") }, "\(found)")
        }
    }
}
