import FoundationEssentials
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

    /// Creates an access. Only this response contains the token.
    func createAccess(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(CreateAccessRequest.self)
        let (access, token) = try await operations.access.create(
            body.name, permits: try Self.permits(body.permits), merchants: try Self.merchants(of: body),
            expiresAt: body.expiresAt,
            certificateFingerprint: try body.clientCertificate.map(ClientCertificate.fingerprint),
            for: call.requestWithIdempotencyKey(Paths.accesses))
        return try RESTResponse(created: AccessDocument(access, token: token), at: Paths.access(access.name))
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
                throw MerchantError(
                    .malformed, "'permits' contains '\(name.prefix(64))', expected 'onboard' or 'read'")
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

/// The client certificate of an access, as a request contains it.
private enum ClientCertificate {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// SHA-256 of the DER of the only certificate in a PEM text. The portal compares it with the certificate that the
    /// client presents, so the certificate is not parsed here.
    static func fingerprint(_ pem: String) throws(MerchantError) -> Bits256 {
        guard pem.firstRange(of: "PRIVATE KEY-----") == nil else {
            throw MerchantError(
                .privateKeyUploaded,
                "'clientCertificate' contains a private key: treat this key as exposed, and send only the certificate")
        }
        guard let first = pem.firstRange(of: begin), let last = pem[first.upperBound...].firstRange(of: end),
            pem[last.upperBound...].firstRange(of: begin) == nil,
            let der = Base64.decode(String(pem[first.upperBound..<last.lowerBound].filter { !$0.isWhitespace })),
            der.first == derSequence
        else {
            throw MerchantError(
                .malformed,
                "'clientCertificate' is not one certificate in PEM; send the text from \(begin) to \(end)")
        }
        // `PublicKeyHash` computes a SHA-256, although these bytes are no public key.
        return PublicKeyHash(of: der).bits
    }

    /// The first byte of every certificate: the tag of an ASN.1 SEQUENCE, X.690.
    private static let derSequence: UInt8 = 0x30
}
