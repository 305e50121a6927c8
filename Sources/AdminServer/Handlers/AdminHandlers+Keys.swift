import FoundationEssentials
import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import Secrets
import Vocabulary
import WireAPI

extension AdminHandlers {
    func keys(_ call: AdminCall, of merchant: MerchantIdentifier) async throws -> Answer {
        let limit = try call.limit()
        var found = try await operations.keys.keyPairs(of: merchant)[...]
        if let text = call.query["cursor"] {
            let cursor = try PublicKeyHash(text, named: "cursor")
            guard let index = found.firstIndex(where: { $0.keyPair.publicKeyHash == cursor }) else {
                throw MerchantError(.malformed, "'cursor' names no key pair of this merchant")
            }
            found = found[(index + 1)...]
        }
        let page = Page(Array(found), limit: limit, document: KeyDocument.init) { $0.keyPair.publicKeyHash.base64URL }
        return try Answer(page).about(merchant: merchant)
    }

    /// Key pairs whose publicKeyHash begins so, or every merchant's in one state.
    func keys(_ call: AdminCall) async throws -> Answer {
        switch (call.query["prefix"], call.query["state"]) {
        case (let prefix?, nil) where call.query["cursor"] == nil: try await keys(call, prefix: prefix)
        case (nil, let state?): try await keys(call, in: KeyState(state, named: "state"))
        case (nil, nil):
            throw MerchantError(
                .malformed,
                "the query parameter 'prefix' is missing, expected part of a publicKeyHash, or a 'state'")
        case (_?, _):
            throw MerchantError(
                .malformed, "found 'prefix' with 'state' or 'cursor', expected 'prefix' or 'state'")
        }
    }

    private func keys(_ call: AdminCall, in state: KeyState) async throws -> Answer {
        let limit = try call.limit()
        let cursor = try call.query["cursor"].map { text throws(MerchantError) in
            try PublicKeyHash(text, named: "cursor")
        }
        let found = try await operations.keys.keyPairs(in: state, after: cursor, limit: limit + 1)
        return try Answer(
            Page(found, limit: limit, document: KeyDocument.init) { $0.keyPair.publicKeyHash.base64URL })
    }

    private func keys(_ call: AdminCall, prefix: String) async throws -> Answer {
        let found = try await operations.keys.keyPairs(prefix: prefix, limit: try call.limit())
        return try Answer(Page(items: found.map(KeyDocument.init), nextCursor: nil))
    }

    func generateKey(_ call: AdminCall, for merchant: MerchantIdentifier) async throws -> Answer {
        let body = try call.read(orEmpty: GenerateKeyRequest(algorithm: nil, purpose: nil))
        let view = try await operations.keys.generateKeyPair(
            for: merchant,
            algorithm: try body.algorithm.map { text throws(MerchantError) in
                try KeyAlgorithm(text, named: "algorithm")
            },
            purpose: try Self.purpose(body.purpose), for: call.creatingRequest(Paths.keys(of: merchant)))
        return try created(view, for: merchant)
    }

    /// Takes an existing private key in. Its bytes are decoded into memory that is wiped; the body and the strings that were
    /// read from it are overwritten in the end, as the connection's buffer was when the body was taken from it.
    func importKey(_ call: AdminCall, to merchant: MerchantIdentifier) async throws -> Answer {
        defer { Wipe.sharedBytes(of: call.body) }
        let body = try call.read(ImportKeyRequest.self, mostBytes: AdminRoute.importBody)
        defer { for text in [body.privateKey, body.passphrase, body.certificate] { text.map(Wipe.sharedBytes) } }
        let state = try body.state.map { text throws(MerchantError) in try KeyState(text, named: "state") } ?? .standby
        let purpose = try Self.purpose(body.purpose)
        var certificate = try Self.decode(body.certificate, named: "certificate")
        // A private key sent in the wrong field is refused further in; it should not stay behind either.
        defer { Wipe.bytes(&certificate) }
        guard let privateKey = SecretBytes.decoding(base64: body.privateKey) else { throw Self.notBase64("privateKey") }
        let passphrase = SecretBytes(copying: (body.passphrase ?? "").utf8)
        let view = try await operations.keys.importKeyPair(
            to: merchant, privateKey: privateKey, passphrase: passphrase, certificate: Array(certificate),
            state: state, purpose: purpose, allowsExpired: body.allowExpired ?? false,
            for: call.creatingRequest(Paths.keyImport(to: merchant)))
        return try created(view, for: merchant)
    }

    func key(_ call: AdminCall, _ hash: PublicKeyHash) async throws -> Answer {
        let view = try await operations.keys.keyPair(hash)
        return try Answer(KeyDocument(view)).about(merchant: view.keyPair.merchantIdentifier, key: hash)
    }

    /// PKCS#10: PEM, or DER where `Accept` names it first.
    func csr(_ call: AdminCall, of hash: PublicKeyHash) async throws -> Answer {
        let view = try await operations.keys.keyPair(hash)
        guard let der = view.certificateSigningRequest else {
            throw MerchantError(.notFound, "key \(hash) has no CSR")
        }
        let merchant = view.keyPair.merchantIdentifier
        var answer =
            Self.prefersDER(call.headers)
            ? Answer(bytes: ByteBuffer(bytes: der), mediaType: "application/pkcs10")
            : Answer(
                bytes: ByteBuffer(string: PEM.encode(der, label: "CERTIFICATE REQUEST")),
                mediaType: "application/x-pem-file")
        answer.headers[.contentDisposition] =
            "attachment; filename=\"\(merchant)-\(hash.hex.prefix(8)).certSigningRequest\""
        return answer.about(merchant: merchant, key: hash)
    }

    /// - Parameter merchant: nil leaves it to the certificate's key.
    func storeCertificate(_ call: AdminCall, for merchant: MerchantIdentifier?) async throws -> Answer {
        guard !call.body.isEmpty else {
            throw MerchantError(.malformed, "found an empty body, expected one certificate, PEM or DER")
        }
        let view = try await operations.certificates.storeCertificate(call.body, for: merchant, for: call.request)
        return try Answer(KeyDocument(view))
            .about(merchant: view.keyPair.merchantIdentifier, key: view.keyPair.publicKeyHash)
    }

    private func created(_ view: KeyView, for merchant: MerchantIdentifier) throws -> Answer {
        let hash = view.keyPair.publicKeyHash
        return try Answer(created: KeyDocument(view), at: Paths.key(hash)).about(merchant: merchant, key: hash)
    }

    private static func purpose(_ text: String?) throws(MerchantError) -> KeyPurpose {
        guard let text else { return .paymentProcessing }
        return try KeyPurpose(text, named: "purpose")
    }

    private static func decode(_ text: String, named field: String) throws(MerchantError) -> Data {
        guard let data = Base64.decode(text), !data.isEmpty else { throw notBase64(field) }
        return data
    }

    private static func notBase64(_ field: String) -> MerchantError {
        MerchantError(.malformed, "'\(field)' is empty or not Base64, expected the file's bytes in Base64")
    }

    private static func prefersDER(_ headers: HTTPFields) -> Bool {
        let ranges = headers[values: .accept].flatMap { $0.split(separator: ",") }.map { range in
            range.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        }
        return ranges.first { $0 == "application/pkcs10" || $0 == "application/x-pem-file" } == "application/pkcs10"
    }
}

extension HTTPField.Name {
    // A token of RFC 9110 section 5.6.2, which is all that the initializer asks.
    fileprivate static let contentDisposition = HTTPField.Name("Content-Disposition")!
}
