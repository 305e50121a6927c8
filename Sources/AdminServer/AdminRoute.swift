package import HTTPTypes
package import MerchantCore
import Vocabulary

/// One call of the admin's socket: what it is called, who may make it, and what it does.
///
/// The router is built from ``all``, and tests hold that list against permits and `schema/openapi.yaml`.
package struct AdminRoute: Sendable {
    package enum Effect: String, Sendable, CaseIterable {
        case reads, writes, destroys
    }

    /// For whom the permit must be held, and with it what the handler is given.
    enum Scope: Sendable {
        /// Nobody's secret: needs no permit.
        case open(@Sendable (AdminHandlers, AdminCall) async throws -> Answer)
        /// About every merchant: a permit for some of them is not enough.
        case everyMerchant(@Sendable (AdminHandlers, AdminCall) async throws -> Answer)
        /// The handler judges the merchants, which the path does not name.
        case judgedInside(@Sendable (AdminHandlers, AdminCall) async throws -> Answer)
        /// The merchant in the path.
        case merchant(@Sendable (AdminHandlers, AdminCall, MerchantIdentifier) async throws -> Answer)
        /// The merchant whose key pair is in the path.
        case key(@Sendable (AdminHandlers, AdminCall, PublicKeyHash) async throws -> Answer)
        /// The registration in the path; about every merchant, because a registration need not name one of ours.
        case registration(
            @Sendable (AdminHandlers, AdminCall, PartnerInternalMerchantIdentifier) async throws -> Answer)
        /// The merchant whose roll is in the path.
        case roll(@Sendable (AdminHandlers, AdminCall, Int) async throws -> Answer)
    }

    package let method: HTTPRequest.Method
    /// As in `schema/openapi.yaml`: at most one parameter.
    package let path: String
    /// nil: anybody who may connect.
    package let permit: Permit?
    package let effect: Effect
    /// What the log says once it is done; nil for reads.
    package let action: String?
    /// The only parameters the query may have.
    package let query: Set<String>
    /// The largest body, in bytes; 0: none.
    let mostBytes: Int
    let scope: Scope

    static let ordinaryBody = 65_536
    static let importBody = 1_048_576

    static func reads(
        _ path: String, permit: Permit? = .read, query: Set<String> = [], _ scope: Scope
    ) -> AdminRoute {
        AdminRoute(
            method: .get, path: path, permit: permit, effect: .reads, action: nil, query: query, mostBytes: 0,
            scope: scope)
    }

    static func writes(
        _ method: HTTPRequest.Method, _ path: String, action: String, effect: Effect = .writes,
        query: Set<String> = [], mostBytes: Int = ordinaryBody, _ scope: Scope
    ) -> AdminRoute {
        AdminRoute(
            method: method, path: path, permit: .administer, effect: effect, action: action, query: query,
            mostBytes: mostBytes, scope: scope)
    }
}

extension AdminRoute {
    package static let all: [AdminRoute] = [
        reads("/v1/merchants", query: ["limit", "cursor"], .judgedInside { try await $0.merchants($1) }),
        writes(.post, "/v1/merchants", action: "merchant added", .judgedInside { try await $0.addMerchant($1) }),
        reads("/v1/merchants/{merchantIdentifier}", .merchant { try await $0.merchant($1, $2) }),
        writes(
            .patch, "/v1/merchants/{merchantIdentifier}", action: "merchant changed",
            .merchant { try await $0.changeMerchant($1, $2) }),
        writes(
            .delete, "/v1/merchants/{merchantIdentifier}", action: "merchant removed", effect: .destroys,
            query: ["dryRun"], mostBytes: 0, .merchant { try await $0.removeMerchant($1, $2) }),

        reads(
            "/v1/merchants/{merchantIdentifier}/keys", query: ["limit", "cursor"],
            .merchant { try await $0.keys($1, of: $2) }),
        writes(
            .post, "/v1/merchants/{merchantIdentifier}/keys", action: "key generated",
            .merchant { try await $0.generateKey($1, for: $2) }),
        writes(
            .post, "/v1/merchants/{merchantIdentifier}/keys/import", action: "key imported", mostBytes: importBody,
            .merchant { try await $0.importKey($1, to: $2) }),
        writes(
            .post, "/v1/merchants/{merchantIdentifier}/certificates", action: "certificate stored",
            .merchant { try await $0.storeCertificate($1, for: $2) }),
        writes(
            .post, "/v1/certificates", action: "certificate stored",
            .everyMerchant { try await $0.storeCertificate($1, for: nil) }),

        reads(
            "/v1/keys", query: ["prefix", "state", "limit", "cursor"], .everyMerchant { try await $0.keys($1) }),
        reads("/v1/keys/{publicKeyHash}", .key { try await $0.key($1, $2) }),
        reads("/v1/keys/{publicKeyHash}/csr", .key { try await $0.csr($1, of: $2) }),
        writes(
            .post, "/v1/keys/{publicKeyHash}/promote", action: "key promoted", .key { try await $0.promote($1, $2) }),
        writes(
            .post, "/v1/keys/{publicKeyHash}/revoke", action: "key revoked", effect: .destroys,
            .key { try await $0.revoke($1, $2) }),
        writes(
            .post, "/v1/keys/{publicKeyHash}/restore", action: "key restored", .key { try await $0.restore($1, $2) }),
        writes(
            .post, "/v1/keys/{publicKeyHash}/destroy", action: "key destruction ordered", effect: .destroys,
            .key { try await $0.destroy($1, $2) }),

        reads("/v1/registrations", query: ["limit", "cursor"], .everyMerchant { try await $0.registrations($1) }),
        writes(
            .post, "/v1/registrations", action: "merchant registered with Apple",
            .everyMerchant { try await $0.register($1) }),
        reads(
            "/v1/registrations/{partnerInternalMerchantIdentifier}", query: ["refresh"],
            .registration { try await $0.registration($1, $2) }),
        writes(
            .delete, "/v1/registrations/{partnerInternalMerchantIdentifier}", action: "domains unregistered with Apple",
            effect: .destroys, query: ["dryRun"], .registration { try await $0.unregister($1, $2) }),
        writes(
            .post, "/v1/registrations/sync", action: "registrations compared with Apple",
            .everyMerchant { try await $0.syncRegistrations($1) }),
        reads("/v1/domain-file", .everyMerchant { handlers, _ in try await handlers.domainFile() }),
        writes(
            .put, "/v1/domain-file", action: "domain file stored", .everyMerchant { try await $0.setDomainFile($1) }),
        writes(
            .post, "/v1/domain-checks", action: "domain checked", .everyMerchant { try await $0.checkDomain($1) }),
        reads(
            "/.well-known/apple-developer-merchantid-domain-association", permit: nil,
            .open { handlers, _ in try await handlers.domainFileBytes() }),

        writes(
            .post, "/v1/merchants/{merchantIdentifier}/rolls", action: "roll started",
            .merchant { try await $0.startRoll($1, of: $2) }),
        reads(
            "/v1/rolls", query: ["merchant", "state", "limit", "cursor"], .judgedInside { try await $0.rolls($1) }),
        reads("/v1/rolls/{rollId}", .roll { try await $0.roll($1, $2) }),
        writes(
            .post, "/v1/rolls/{rollId}/finish", action: "roll finished", effect: .destroys,
            .roll { try await $0.finishRoll($1, $2) }),
        writes(
            .post, "/v1/rolls/{rollId}/abandon", action: "roll abandoned", effect: .destroys,
            .roll { try await $0.abandonRoll($1, $2) }),

        reads("/v1/status", .everyMerchant { handlers, _ in try await handlers.status() }),
        reads(
            "/v1/audit", query: ["merchant", "key", "caller", "since", "until", "order", "limit", "cursor"],
            .judgedInside { try await $0.audit($1) }),
        reads(
            "/v1/audit/verification", query: ["head", "cursor"], .everyMerchant { try await $0.auditVerification($1) }),
        writes(.post, "/v1/backups", action: "backup created", .everyMerchant { try await $0.createBackup($1) }),
        writes(
            .post, "/v1/backups/verification", action: "backup verified",
            .everyMerchant { try await $0.verifyBackup($1) }),
        reads("/v1/master-key", .everyMerchant { handlers, _ in try await handlers.masterKey() }),
        writes(
            .post, "/v1/master-key/rotation", action: "rotation of the master key ordered", effect: .destroys,
            .everyMerchant { try await $0.rotateMasterKey($1) }),
        reads(
            "/v1/events", query: ["after", "cursor", "newest", "limit", "merchant", "kind", "severity", "wait"],
            .judgedInside { try await $0.events($1) }),
        writes(
            .post, "/v1/events/redeliver", action: "parked events sent again",
            .everyMerchant { try await $0.redeliverEvents($1) }),
        reads("/metrics", .everyMerchant { handlers, _ in try await handlers.metrics() }),
        reads("/v1/health", permit: nil, .open { handlers, _ in try handlers.healthAnswer() }),
        reads("/v1/openapi.yaml", permit: nil, .open { handlers, _ in handlers.contract() }),
    ]
}
