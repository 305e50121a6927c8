import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let access: [AdminRoute] = [
        .reads("/v1/access", query: ["limit", "cursor"], AdminHandlers.listAccess),
        .changes(.post, "/v1/access", logMessage: "access created", AdminHandlers.createAccess),
        .reads("/v1/access/{accessName}", AdminHandlers.getAccess),
        .changes(.post, "/v1/access/{accessName}/rotate", logMessage: "access rotated", AdminHandlers.rotateAccess),
        .changes(
            .post, "/v1/access/{accessName}/revoke", logMessage: "access revoked", effect: .destroys,
            maximumBodyBytes: 0, AdminHandlers.revokeAccess),
    ]
}

extension AdminHandlers {
    func listAccess(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: AccessName.self)
        let found = try await operations.access.list(after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: { AccessDocument($0) }, cursor: { $0.name.rawValue }))
    }

    /// Creates an access. Only this response contains the token; an access by client certificate has none.
    func createAccess(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(CreateAccessRequest.self)
        let (access, token) = try await operations.access.create(
            body.name, permits: try Self.permits(body.permits), merchants: try Self.merchants(of: body),
            expiresAt: body.expiresAt,
            clientCertificate: body.clientCertificate.map { Array($0.utf8) },
            for: call.requestWithIdempotencyKey(Paths.accesses))
        var document = AccessDocument(access, token: token)
        if access.certificateFingerprint != nil, !operations.readsClientCertificates() {
            document.warnings = [
                "the portal does not accept client certificates, so this access gets 401: set 'portal.tls.client-ca' to the CAs that issue the machines' certificates, and run 'merchantkeyctl reload'"
            ]
        }
        return try RESTResponse(created: document, at: Paths.access(access.name))
    }

    func getAccess(_ call: RESTCall, _ name: AccessName) async throws -> RESTResponse {
        try RESTResponse(AccessDocument(try await operations.access.access(name)))
    }

    /// Creates a new token. Only this response contains the token.
    func rotateAccess(_ call: RESTCall, _ name: AccessName) async throws -> RESTResponse {
        let body = try call.read(orEmpty: RotateAccessRequest())
        let overlap = body.overlapSeconds.map { Duration.seconds($0) } ?? AccessOperations.defaultOverlap
        let (access, token) = try await operations.access.rotate(
            name, overlap: overlap, for: call.requestWithIdempotencyKey(Paths.accessRotation(name)))
        return try RESTResponse(AccessDocument(access, token: token))
    }

    func revokeAccess(_ call: RESTCall, _ name: AccessName) async throws -> RESTResponse {
        try RESTResponse(AccessDocument(try await operations.access.revoke(name, for: call.request)))
    }

    private static func permits(_ names: [String]) throws(MerchantError) -> Set<Permit> {
        var permits: Set<Permit> = []
        for name in names {
            guard let permit = Permit(rawValue: name) else {
                let expected = PortalPermits.permitted.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
                throw MerchantError(
                    .malformed, "'permits' contains '\(name.prefix(64))', expected one or more of \(expected)")
            }
            permits.insert(permit)
        }
        return permits
    }

    /// - Returns: nil for every merchant.
    private static func merchants(
        of body: CreateAccessRequest
    ) throws(MerchantError) -> Set<MerchantIdentifier>? {
        switch (body.merchants, body.allMerchants ?? false) {
        case (let merchants?, false): return Set(merchants)
        case (nil, true): return nil
        case (nil, false):
            throw MerchantError(
                .malformed, "the request names no merchant; send 'merchants', or 'allMerchants' with the value true")
        case (_?, true):
            throw MerchantError(.malformed, "'merchants' and 'allMerchants' exclude each other; send only one")
        }
    }
}
