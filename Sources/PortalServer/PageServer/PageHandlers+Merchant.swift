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
        .get("/merchant/roll", .merchant) { _ in { _ in .page(RollConfirmationPage()) } },
        .post("/merchant/roll", .merchant, PageHandlers.startRoll),
    ]
}

extension PageHandlers {
    func merchantHome(_ call: PageCall, outcome: PageOutcome? = nil) async throws -> PageReply {
        let merchant = try call.merchant()
        let progress = try await operations.onboarding.progress(of: merchant, in: call.scope)
        let notice = call.query["done"].flatMap(MerchantNotice.init(rawValue:)).map(PageOutcome.success)
        return .page(
            MerchantHomePage(
                merchant: try await operations.onboarding.merchant(merchant, in: call.scope).merchant,
                progress: progress,
                keys: try await operations.onboarding.keyPairs(of: merchant, in: call.scope),
                outcome: outcome ?? notice, liveTag: try RESTResponse(progress.document).entityTag))
    }

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

    /// Generates a merchant's first key pair by starting a roll: only a key pair in a roll becomes the current one with
    /// its first payment.
    func generateKey(_ call: PageCall) async throws -> PageReply {
        try await beginRoll(call, notice: .keyPairGenerated)
    }

    func startRoll(_ call: PageCall) async throws -> PageReply { try await beginRoll(call, notice: .rollStarted) }

    private func beginRoll(_ call: PageCall, notice: MerchantNotice) async throws -> PageReply {
        do {
            _ = try await operations.onboarding.startRoll(
                of: try call.merchant(), algorithm: nil, in: call.scope, for: call.requestWithFormKey())
            return .redirect("\(PortalPaths.home)?done=\(notice.rawValue)")
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
            _ = try await operations.onboarding.storeCertificate(
                file.bytes, for: merchant, in: call.scope, for: call.request)
            return .redirect("\(PortalPaths.home)?done=\(MerchantNotice.certificateStored.rawValue)")
        } catch let error as MerchantError where error.code != .internalError {
            return try await merchantHome(
                call,
                outcome: .uploadRefused(
                    UploadProblem(
                        refusal: error.code, file: diagnosis, merchant: merchant, requestId: call.requestId)))
        }
    }
}
