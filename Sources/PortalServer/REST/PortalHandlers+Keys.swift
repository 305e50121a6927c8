import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension PortalRoutes {
    static let keys: [PortalRoute] = [
        .reads("/v1/merchants/{merchantIdentifier}/keys", PortalHandlers.listKeys),
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/keys", logMessage: "key generated", PortalHandlers.generateKey),
        .reads("/v1/keys/{publicKeyHash}", PortalHandlers.getKey),
        .reads("/v1/keys/{publicKeyHash}/csr", PortalHandlers.getCSR),
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/certificates", logMessage: "certificate stored",
            PortalHandlers.storeMerchantCertificate),
        .changes(
            .post, "/v1/certificates", logMessage: "certificate stored", scope: .checkedByHandler,
            PortalHandlers.storeCertificate),
    ]
}

extension PortalHandlers {
    /// The response contains all key pairs of the merchant on one page.
    func listKeys(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let found = try await operations.onboarding.keyPairs(of: merchant, in: scope(call))
        return try conditionalResponse(Page(items: found.map(KeyDocument.init), nextCursor: nil), call)
            .withLogFields(merchant: merchant)
    }

    func generateKey(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let body = try call.read(orEmpty: GenerateKeyRequest())
        guard body.purpose ?? .paymentProcessing == .paymentProcessing else {
            throw MerchantError(
                .malformed,
                "'purpose' is \(body.purpose?.rawValue ?? ""), expected paymentProcessing: the portal generates no other key pairs"
            )
        }
        let view = try await operations.onboarding.generateKeyPair(
            for: merchant, algorithm: body.algorithm, in: scope(call),
            for: call.requestWithIdempotencyKey(Paths.keys(of: merchant)))
        let hash = view.keyPair.publicKeyHash
        return try RESTResponse(created: KeyDocument(view), at: Paths.key(hash))
            .withLogFields(merchant: merchant, key: hash)
    }

    func getKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        let view = try await operations.onboarding.keyPair(hash, in: scope(call))
        return try conditionalResponse(KeyDocument(view), call)
            .withLogFields(merchant: view.keyPair.merchantIdentifier, key: hash)
    }

    func getCSR(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        try RESTResponse(
            csrOf: try await operations.onboarding.keyPair(hash, in: scope(call)), for: call.headers)
    }

    /// Stores a certificate for the merchant of the certificate's key pair. The caller must have the permit for this
    /// merchant.
    func storeCertificate(_ call: RESTCall) async throws -> RESTResponse { try await store(call, for: nil) }

    func storeMerchantCertificate(
        _ call: RESTCall, _ merchant: MerchantIdentifier
    ) async throws -> RESTResponse {
        try await store(call, for: merchant)
    }

    private func store(_ call: RESTCall, for merchant: MerchantIdentifier?) async throws -> RESTResponse {
        guard !call.body.isEmpty else {
            throw MerchantError(.malformed, "found an empty body, expected one certificate in PEM or DER")
        }
        let view = try await operations.onboarding.storeCertificate(
            call.body, for: merchant, in: scope(call), for: call.request)
        return try RESTResponse(KeyDocument(view))
            .withLogFields(merchant: view.keyPair.merchantIdentifier, key: view.keyPair.publicKeyHash)
    }
}
