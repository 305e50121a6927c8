import FoundationEssentials
import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import Secrets
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let keys: [AdminRoute] = [
        .reads("/v1/merchants/{merchantIdentifier}/keys", query: ["limit", "cursor"], AdminHandlers.listKeys),
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/keys", logMessage: "key generated", AdminHandlers.generateKey),
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/keys/import", logMessage: "key imported",
            maximumBodyBytes: importBodyLimit,
            AdminHandlers.importKey),
        .changes(
            .post, "/v1/keys/import", logMessage: "key imported", maximumBodyBytes: importBodyLimit,
            AdminHandlers.importKeyOfItsMerchant),
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/certificates", logMessage: "certificate stored",
            AdminHandlers.storeMerchantCertificate),
        .changes(.post, "/v1/certificates", logMessage: "certificate stored", AdminHandlers.storeCertificate(_:)),
        .reads("/v1/keys", query: ["prefix", "state", "endingBefore", "limit", "cursor"], AdminHandlers.findKeys),
        .reads("/v1/keys/{publicKeyHash}", AdminHandlers.getKey),
        .reads("/v1/keys/{publicKeyHash}/csr", AdminHandlers.getCSR),
    ]
}

extension AdminHandlers {
    func listKeys(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let limit = try call.limit()
        var found = try await operations.keys.keyPairs(of: merchant)[...]
        if let cursor = try call.query.value("cursor", as: PublicKeyHash.self) {
            guard let index = found.firstIndex(where: { $0.keyPair.publicKeyHash == cursor }) else {
                throw MerchantError(
                    .malformed, "'cursor' names no key pair of this merchant; send the nextCursor of an earlier page")
            }
            found = found[(index + 1)...]
        }
        let page = Page(Array(found), limit: limit, document: KeyDocument.init) { $0.keyPair.publicKeyHash.base64URL }
        return try RESTResponse(page).withLogFields(merchant: merchant)
    }

    /// Lists key pairs. The query selects them in one of three ways: `prefix` by the beginning of their publicKeyHash;
    /// `state` by their state; `endingBefore` those active key pairs whose certificate expires before a time. Only
    /// `endingBefore` can be combined with `state`.
    func findKeys(_ call: RESTCall) async throws -> RESTResponse {
        if let time = try call.query.value("endingBefore", as: Timestamp.self) {
            guard call.query["prefix"] == nil else {
                throw MerchantError(.malformed, "'prefix' cannot be combined with 'endingBefore'; send one of the two")
            }
            return try await keys(call, endingBefore: time)
        }
        return try await keysByPrefixOrState(call)
    }

    private func keysByPrefixOrState(_ call: RESTCall) async throws -> RESTResponse {
        switch (call.query["prefix"], call.query["state"]) {
        case (let prefix?, nil) where call.query["cursor"] == nil: try await keys(call, prefix: prefix)
        case (nil, let state?): try await keys(call, in: KeyState(state, named: "state"))
        case (nil, nil):
            throw MerchantError(
                .malformed,
                "the query parameter 'prefix' is missing; send the beginning of a publicKeyHash, or send 'state' or 'endingBefore'"
            )
        case (_?, _):
            throw MerchantError(
                .malformed, "'prefix' cannot be combined with 'state' or 'cursor'; send either 'prefix' or 'state'")
        }
    }

    private func keys(_ call: RESTCall, in state: KeyState) async throws -> RESTResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: PublicKeyHash.self)
        let found = try await operations.keys.keyPairs(in: state, after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: KeyDocument.init) { $0.keyPair.publicKeyHash.base64URL })
    }

    private func keys(_ call: RESTCall, endingBefore time: Timestamp) async throws -> RESTResponse {
        let limit = try call.limit()
        let state = try call.query["state"].map { text throws(MerchantError) in try KeyState(text, named: "state") }
        let cursor = try call.query.value("cursor", as: PublicKeyHash.self)
        let found = try await operations.keys.keyPairs(
            expiringBefore: time, in: state, after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: KeyDocument.init) { $0.keyPair.publicKeyHash.base64URL })
    }

    private func keys(_ call: RESTCall, prefix: String) async throws -> RESTResponse {
        let found = try await operations.keys.keyPairs(prefix: prefix, limit: try call.limit())
        return try RESTResponse(Page(items: found.map(KeyDocument.init), nextCursor: nil))
    }

    func generateKey(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let body = try call.read(orEmpty: GenerateKeyRequest())
        let view = try await operations.keys.generateKeyPair(
            for: merchant,
            algorithm: body.algorithm, purpose: body.purpose ?? .paymentProcessing,
            for: call.requestWithIdempotencyKey(Paths.keys(of: merchant)))
        return try created(view, for: merchant)
    }

    /// Imports an existing private key. No copy of the key may stay in memory: the decoded key is overwritten after
    /// use, and the body and its strings are overwritten when this function returns. ``RequestInput`` has already
    /// overwritten the connection's buffer.
    func importKey(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        try await importKeyPair(call, to: merchant)
    }

    /// Imports an existing private key to the merchant that its certificate names.
    func importKeyOfItsMerchant(_ call: RESTCall) async throws -> RESTResponse {
        try await importKeyPair(call, to: nil)
    }

    /// - Parameter merchant: nil for the merchant that the certificate names.
    private func importKeyPair(_ call: RESTCall, to merchant: MerchantIdentifier?) async throws -> RESTResponse {
        defer { Wipe.sharedBytes(of: call.body) }
        let body = try call.read(ImportKeyRequest.self, maximumBodyBytes: AdminRoutes.importBodyLimit)
        defer { for text in [body.privateKey, body.passphrase, body.certificate] { text.map(Wipe.sharedBytes) } }
        var certificate = try body.certificate.map { try Self.decode($0, named: "certificate") } ?? Data()
        // The field `certificate` may contain a private key, by a mistake of the caller or because its value is a
        // PKCS#12 file. The key must not stay in memory.
        defer { Wipe.bytes(&certificate) }
        guard let privateKey = SecretBytes.decoding(base64: body.privateKey) else { throw Self.notBase64("privateKey") }
        let passphrase = SecretBytes(copying: (body.passphrase ?? "").utf8)
        let upload: [UInt8]? = body.certificate == nil ? nil : Array(certificate)
        let (state, purpose) = (body.state ?? .standby, body.purpose ?? .paymentProcessing)
        let view: KeyView
        if let merchant {
            view = try await operations.keys.importKeyPair(
                to: merchant, privateKey: privateKey, number: body.keyNumber, passphrase: passphrase,
                certificate: upload, state: state, purpose: purpose, allowsExpired: body.allowExpired ?? false,
                for: call.requestWithIdempotencyKey(Paths.keyImport(to: merchant)))
        } else {
            view = try await operations.keys.importKeyPair(
                privateKey: privateKey, number: body.keyNumber, passphrase: passphrase, certificate: upload,
                state: state, purpose: purpose, allowsExpired: body.allowExpired ?? false,
                for: call.requestWithIdempotencyKey(Paths.keyImport))
        }
        return try created(view, for: view.keyPair.merchantIdentifier)
    }

    func getKey(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        let view = try await operations.keys.keyPair(hash)
        return try RESTResponse(KeyDocument(view)).withLogFields(merchant: view.keyPair.merchantIdentifier, key: hash)
    }

    func getCSR(_ call: RESTCall, _ hash: PublicKeyHash) async throws -> RESTResponse {
        try RESTResponse(csrOf: try await operations.keys.keyPair(hash), for: call.headers)
    }

    /// Stores a certificate for the merchant that owns the certificate's key pair.
    func storeCertificate(_ call: RESTCall) async throws -> RESTResponse {
        try await storeCertificate(call, for: nil)
    }

    func storeMerchantCertificate(
        _ call: RESTCall, _ merchant: MerchantIdentifier
    ) async throws -> RESTResponse {
        try await storeCertificate(call, for: merchant)
    }

    private func storeCertificate(_ call: RESTCall, for merchant: MerchantIdentifier?) async throws -> RESTResponse {
        guard !call.body.isEmpty else {
            throw MerchantError(.malformed, "found an empty body, expected one certificate in PEM or DER")
        }
        let view = try await operations.certificates.storeCertificate(call.body, for: merchant, for: call.request)
        return try RESTResponse(KeyDocument(view))
            .withLogFields(merchant: view.keyPair.merchantIdentifier, key: view.keyPair.publicKeyHash)
    }

    private func created(_ view: KeyView, for merchant: MerchantIdentifier) throws -> RESTResponse {
        let hash = view.keyPair.publicKeyHash
        return try RESTResponse(created: KeyDocument(view), at: Paths.key(hash)).withLogFields(
            merchant: merchant, key: hash)
    }

    private static func decode(_ text: String, named field: String) throws(MerchantError) -> Data {
        guard let data = Base64.decode(text), !data.isEmpty else { throw notBase64(field) }
        return data
    }

    private static func notBase64(_ field: String) -> MerchantError {
        MerchantError(.malformed, "'\(field)' is empty or not Base64, expected the file's bytes in Base64")
    }
}
