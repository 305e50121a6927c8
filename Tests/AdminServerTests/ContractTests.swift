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

    @Test("each document has exactly the fields of its schema")
    func fields() throws {
        let seen = KeyUseDocument.Observed(count: 1, first: "", last: "")
        let use = KeyUseDocument(requests: seen, decryptions: seen)
        let certificate = CertificateDocument(
            fingerprint: "", serialNumber: "", subject: "", issuer: "", notBefore: "", notAfter: "",
            issuerVerified: true, storedAt: "", certificate: "")
        let key = KeyDocument(
            publicKeyHash: "", merchantIdentifier: "", algorithm: "", purpose: "", state: "", origin: "", createdAt: "",
            stateSince: "", notBefore: "", notAfter: "", revocationReason: "", destroyAfter: "", exportedAt: "",
            certificates: [certificate], csr: "", use: use)
        let merchant = MerchantDocument(
            merchantIdentifier: "", merchantIdentifierHash: "", name: "", targetActiveKeyPairs: 2, activeKeyPairs: 0,
            createdAt: "", newestKeyBackedUp: true, pendingKeyPairs: [key])
        let item = StatusDocument.Finding.Item(severity: "", detail: "", merchantIdentifier: "", publicKeyHash: "")
        let finding = StatusDocument.Finding(
            severity: "", code: "", detail: "", count: 1, countBySeverity: [:], mostUrgent: [item])
        let webhook = StatusDocument.Webhook(
            name: "", undelivered: 0, parked: 0, oldestUndelivered: "", lastDelivered: "", lastFailed: "",
            lastFailure: "")
        let event = EventDocument(
            id: "", sequence: 1, kind: "", severity: "", occurredAt: "", merchantIdentifier: "", publicKeyHash: "",
            rollId: "", detail: "")
        let caller = AuditRecordDocument.CallerDocument(uid: 0, gid: 0, pid: 0, program: "")
        let move = KeyTransitionDocument.Transition(publicKeyHash: "", from: "", to: "")
        let check = CheckDocument(check: "", outcome: "", finding: "")
        let drift = DriftDocument(kind: "", found: "", expected: "")
        let failure = FailureDocument(code: "", detail: "", retryAfter: 1)
        let registration = RegistrationDocument(
            partnerInternalMerchantIdentifier: "", state: "", source: "", partnerMerchantName: "", domainNames: [],
            encryptTo: "", encryptToHash: "", merchantUrl: "", merchantIdentifier: "", learnedAt: "", ageSeconds: 0,
            drift: [drift], createdAt: "", changedAt: "", warnings: [])
        let syncFinding = SyncDocument.Finding(
            partnerInternalMerchantIdentifier: "", drift: [drift], mended: true, remaining: [], failure: failure)
        let domainFinding = DomainCheckDocument.Finding(kind: "", detail: "")
        let roll = RollDocument(
            rollId: "", merchantIdentifier: "", algorithm: "", state: "", from: "", to: "", waitingFor: "", since: "",
            next: "", quietAt: "", startedAt: "", endedAt: "", reason: "", dryRun: true, transitions: [move],
            warnings: [])
        let documents: [(String, any Encodable)] = [
            ("RollDocument", roll), ("RollPage", Page(items: [roll], nextCursor: "")), ("KeyUseDocument", use),
            ("ObservedUse", seen), ("StartRollRequest", StartRollRequest(algorithm: "")),
            ("FinishRollRequest", FinishRollRequest(now: true, reason: "", dryRun: true)),
            ("AbandonRollRequest", AbandonRollRequest(reason: "", dryRun: true)),
            ("EndingWeek", StatusDocument.Week(begins: "", ending: 1)),
            (
                "WaitingDestruction",
                StatusDocument.Destruction(publicKeyHash: "", merchantIdentifier: "", destroyAfter: "")
            ),
            ("RegistrationDocument", registration), ("DriftDocument", drift), ("FailureDocument", failure),
            ("RegistrationPage", Page(items: [registration], nextCursor: "")), ("SyncFinding", syncFinding),
            (
                "WithdrawalDocument",
                WithdrawalDocument(dryRun: true, domainNames: [], warnings: [], registration: registration)
            ),
            (
                "SyncDocument",
                SyncDocument(
                    repair: true, compared: 1, findings: [syncFinding], halted: failure, nextCursor: "")
            ),
            ("DomainFileDocument", DomainFileDocument(sha256: "", size: 1, storedAt: "")),
            ("DomainCheckFinding", domainFinding),
            (
                "DomainCheckDocument",
                DomainCheckDocument(domainName: "", fine: false, address: "", findings: [domainFinding])
            ),
            (
                "RegisterRequest",
                RegisterRequest(
                    partnerInternalMerchantIdentifier: "", partnerMerchantName: "", domainNames: [], encryptTo: "",
                    merchantUrl: "", merchantIdentifier: "")
            ),
            ("UnregisterRequest", UnregisterRequest(domainNames: [], reason: "")),
            ("SyncRequest", SyncRequest(repair: true, limit: 1, cursor: "")),
            ("DomainCheckRequest", DomainCheckRequest(domainName: "")),
            ("MerchantDocument", merchant), ("KeyDocument", key), ("CertificateDocument", certificate),
            ("MerchantPage", Page(items: [merchant], nextCursor: "")), ("KeyPage", Page(items: [key], nextCursor: "")),
            ("KeyTransitionDocument", KeyTransitionDocument(dryRun: true, transitions: [move], warnings: [], key: key)),
            ("KeyTransition", move), ("Finding", finding), ("FindingItem", item), ("Caller", caller),
            ("CheckDocument", check),
            (
                "StatusDocument",
                StatusDocument(
                    version: "", environment: "", time: "", startedAt: "", merchants: 0, merchantsBelowTarget: 0,
                    keyPairs: [:], certificates: 0, auditRecords: 0,
                    auditHead: AuditHeadDocument(sequence: 1, hash: ""),
                    backups: BackupCoverageDocument(
                        lastVerified: "", file: "", merchantsWithoutBackup: 0, withoutBackup: []),
                    findings: [finding], webhooks: [webhook])
            ),
            ("AuditHead", AuditHeadDocument(sequence: 1, hash: "")),
            ("AuditBreak", AuditBreakDocument(kind: "", sequence: 1, detail: "")),
            (
                "AuditVerificationDocument",
                AuditVerificationDocument(
                    examined: 0, breakCount: 0, breaks: [], head: AuditHeadDocument(sequence: 1, hash: ""),
                    nextCursor: "")
            ),
            ("HealthDocument", HealthDocument(live: true, ready: true, reasons: [], findings: [finding])),
            ("Webhook", webhook), ("EventDocument", event),
            ("EventPage", Page(items: [event], nextCursor: "")),
            ("RedeliverEventsRequest", RedeliverEventsRequest(sequence: 1, webhook: "")),
            ("RedeliveredEventsDocument", RedeliveredEventsDocument(redelivered: 0)),
            (
                "AuditRecordDocument",
                AuditRecordDocument(
                    sequence: 1, at: "", action: "", caller: caller, merchantIdentifier: "", publicKeyHash: "",
                    before: "", after: "", reason: "", requestId: "", hash: "", previousHash: "")
            ),
            ("Problem", Problem(status: 400, code: "", title: "", detail: "", requestId: "")),
            (
                "ResolvedKeyDocument",
                ResolvedKeyDocument(
                    publicKeyHash: "", merchantIdentifier: "", merchantIdentifierHash: "", algorithm: "", state: "",
                    certificate: "", notBefore: "", notAfter: "", privateKey: "")
            ),
            ("SymmetricKeyDocument", SymmetricKeyDocument(symmetricKey: "")),
            (
                "AuthorizationDocument",
                AuthorizationDocument(
                    network: "", primaryAccountNumber: "", expirationDate: "", cryptogram: "",
                    electronicCommerceIndicator: "", tokenBlockA: "", tokenBlockB: "", tokenRequestorID: "")
            ),
            ("VerificationDocument", VerificationDocument(verified: true, checks: [check])),
            (
                "AddMerchantRequest",
                AddMerchantRequest(merchantIdentifier: "", name: "", targetActiveKeyPairs: 2, generateKeyPairs: true)
            ),
            ("ChangeMerchantRequest", ChangeMerchantRequest(name: "", targetActiveKeyPairs: 2)),
            ("GenerateKeyRequest", GenerateKeyRequest(algorithm: "", purpose: "")),
            (
                "ImportKeyRequest",
                ImportKeyRequest(
                    privateKey: "", certificate: "", passphrase: "", state: "", purpose: "", allowExpired: true)
            ),
            ("KeyTransitionRequest", KeyTransitionRequest(dryRun: true)),
            ("RevokeKeyRequest", RevokeKeyRequest(reason: "", dryRun: true)),
            ("DestroyKeyRequest", DestroyKeyRequest(afterSeconds: 0, dryRun: true)),
            ("SymmetricKeyRequest", SymmetricKeyRequest(ephemeralPublicKey: "", wrappedKey: "")),
        ]
        let backup = BackupDocument(
            file: "", createdAt: "", programVersion: "", schemaVersion: 1, databaseBytes: 1, sha256: "", merchants: 0,
            keyPairs: [:], certificates: 0, auditHead: AuditHeadDocument(sequence: 1, hash: ""))
        let backups: [(String, any Encodable)] = [
            ("BackupRequest", BackupRequest(file: "")), ("BackupDocument", backup),
            (
                "BackupVerificationDocument",
                BackupVerificationDocument(
                    backup: backup, good: true, keyPairsVerified: 0, certificatesChecked: 0, auditRecordsChecked: 0,
                    seconds: 0, findings: [])
            ),
            (
                "BackupCoverageDocument",
                BackupCoverageDocument(lastVerified: "", file: "", merchantsWithoutBackup: 0, withoutBackup: [])
            ),
        ]
        let masterKey = MasterKeyDocument(
            masterKeyIdentifier: "", dataKeyIdentifier: 1, source: "",
            rotation: .init(
                state: "", dataKeyOnly: true, dataKeyIdentifier: 1, total: 0, done: 0, startedAt: "", finishedAt: "",
                obstacle: ""))
        let rotation: [(String, any Encodable)] = [
            ("RotateMasterKeyRequest", RotateMasterKeyRequest(dataKeyOnly: true, dryRun: true)),
            ("MasterKeyDocument", masterKey), ("MasterKeyRotation", masterKey.rotation),
            (
                "RotationPlanDocument",
                RotationPlanDocument(dryRun: true, joins: true, steps: [], masterKey: masterKey)
            ),
        ]
        for (name, document) in documents + backups + rotation {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(document)) as? [String: Any]
            let properties = contract["components"]?["schemas"]?[name]?["properties"]?.mapping.map { Array($0.keys) }
            #expect(Set((object ?? [:]).keys) == Set((properties ?? []).compactMap(\.string)), "\(name)")
        }
    }

    // MARK: With Python's openapi-spec-validator and jsonschema

    static let hasPython = runs("import openapi_spec_validator, jsonschema, yaml")

    private static func runs(_ code: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", code]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitForExit()
        return process.terminationStatus == 0
    }

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
