import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import Vocabulary
import WireAPI

extension PageRoutes {
    static let merchant: [PageRoute] = [
        .get("/merchant/keys", .merchant, PageHandlers.showKeys),
        .post("/merchant/keys", .merchant, PageHandlers.generateKey),
        .get("/merchant/keys/{publicKeyHash}/csr", .merchant, PageHandlers.downloadCSR),
        .post(
            "/merchant/certificates", .merchant, maximumBodyBytes: FormLimits.upload, PageHandlers.uploadCertificate),
        .get("/merchant/roll", .merchant, PageHandlers.confirmRoll),
        .post("/merchant/roll", .merchant, PageHandlers.startRoll),
    ]
}

extension PageHandlers {
    func merchantHome(_ call: PageCall, outcome: PageOutcome? = nil) async throws -> PageReply {
        let merchant = try call.merchant()
        let progress = try await operations.onboarding.progress(of: merchant, in: call.scope)
        let tag = try RESTResponse(progress.document).entityTag
        var notice = call.query["done"].flatMap(MerchantNotice.init(rawValue:))
        // This notice asks for another certificate. If none must be uploaded now, say only that the certificate was
        // stored already.
        if notice == .presentCertificate, progress.awaitedKey == nil { notice = .certificateStoredAlready }
        // A notice is about one version of the onboarding document, which the query names. When the document has
        // changed, a reload must not show the notice again.
        if call.query["state"] != Self.stateName(tag) { notice = nil }
        let domains = try await operations.onboarding.registrations(
            of: merchant, after: nil, limit: 1, in: call.scope)
        return .page(
            MerchantHomePage(
                merchant: try await operations.onboarding.merchant(merchant, in: call.scope).merchant,
                progress: progress,
                keys: try await operations.onboarding.keyPairs(of: merchant, in: call.scope),
                hasDomains: !domains.isEmpty, outcome: outcome ?? notice.map(PageOutcome.success), liveTag: tag))
    }

    /// Redirects to the overview with a notice, and names the version of the onboarding document that the notice is
    /// about. If the document cannot be read, the overview shows no notice. This is not an error, because the change
    /// was made.
    private func redirectHome(_ call: PageCall, notice: MerchantNotice) async -> PageReply {
        do {
            let progress = try await operations.onboarding.progress(of: try call.merchant(), in: call.scope)
            let state = Self.stateName(try RESTResponse(progress.document).entityTag)
            return .redirect("\(PortalPaths.home)?done=\(notice.rawValue)&state=\(state)")
        } catch {
            return .redirect(PortalPaths.home)
        }
    }

    /// The name of a version of the onboarding document: the digest in its entity tag.
    private static func stateName(_ tag: String) -> String { tag.filter { $0 != "\"" } }

    func showKeys(_ call: PageCall) async throws -> PageReply { try await keysPage(call) }

    private func keysPage(_ call: PageCall, outcome: PageOutcome? = nil) async throws -> PageReply {
        let merchant = try call.merchant()
        return .page(
            MerchantKeysPage(
                merchant: try await operations.onboarding.merchant(merchant, in: call.scope).merchant,
                keys: try await operations.onboarding.keyPairs(of: merchant, in: call.scope),
                rolls: try await operations.onboarding.rolls(of: merchant, before: nil, limit: 20, in: call.scope),
                outcome: outcome))
    }

    /// Starts a roll, as ``startRoll(_:)`` does. Only the notice differs, if the roll's key pair waits for a
    /// certificate.
    func generateKey(_ call: PageCall) async throws -> PageReply {
        try await beginRoll(call, generated: .keyPairGenerated)
    }

    func confirmRoll(_ call: PageCall) async throws -> PageReply {
        .page(
            RollConfirmationPage(try await operations.onboarding.rollPreview(of: try call.merchant(), in: call.scope)))
    }

    func startRoll(_ call: PageCall) async throws -> PageReply { try await beginRoll(call, generated: .rollStarted) }

    private func beginRoll(_ call: PageCall, generated: MerchantNotice) async throws -> PageReply {
        do {
            let (view, isNew) = try await operations.onboarding.startRoll(
                of: try call.merchant(), algorithm: nil, in: call.scope, for: call.requestWithFormKey())
            return await redirectHome(call, notice: MerchantNotice(view, isNew: isNew, generated: generated))
        } catch let error as MerchantError where error.code != .internalError {
            return try await merchantHome(
                call, outcome: .problem(MerchantProblem(error.code), requestId: call.requestId))
        }
    }

    func downloadCSR(_ call: PageCall) async throws -> PageReply {
        guard let hash = PublicKeyHash(anySpelling: call.parameter) else { throw MerchantError.noPage }
        let view = try await operations.onboarding.keyPair(hash, in: call.scope)
        guard let der = view.certificateSigningRequest else { throw MerchantError.noPage }
        return .download(
            ByteBuffer(string: PEM.encode(der, label: "CERTIFICATE REQUEST")), mediaType: "application/x-pem-file",
            fileName: PageKey(view).signingRequestFile)
    }

    func uploadCertificate(_ call: PageCall) async throws -> PageReply {
        let merchant = try call.merchant()
        guard let file = call.form.file("certificate"), !(file.name.isEmpty && file.bytes.isEmpty) else {
            return try await merchantHome(call, outcome: .uploadRefused(UploadProblem(.noFile)))
        }
        let diagnosis = CertificateUploadDiagnosis(of: file.bytes)
        if let problem = UploadProblem(file: diagnosis, requestId: call.requestId) {
            return try await merchantHome(call, outcome: .uploadRefused(problem))
        }
        do {
            let view = try await operations.onboarding.storeCertificate(
                file.bytes, for: merchant, in: call.scope, for: call.request)
            return await redirectHome(call, notice: MerchantNotice(upload: view))
        } catch let error as MerchantError where error.code != .internalError {
            return try await merchantHome(
                call,
                outcome: .uploadRefused(
                    UploadProblem(
                        refusal: error.code, file: diagnosis, merchant: merchant, requestId: call.requestId)))
        }
    }
}
