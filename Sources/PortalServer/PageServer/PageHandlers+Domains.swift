import HTTPKit
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary

extension PageRoutes {
    static let domains: [PageRoute] = [
        .get("/merchant/domains", .merchant, query: ["done"], PageHandlers.showDomains),
        .post("/merchant/domains", .merchant, PageHandlers.registerDomain),
        .get("/merchant/domains/file", .merchant, PageHandlers.downloadDomainFile),
        .post("/merchant/domains/check", .merchant, PageHandlers.checkDomain),
        .get(
            "/merchant/domains/unregister", .merchant, query: ["partner", "domain"], PageHandlers.confirmUnregistration
        ),
        .post("/merchant/domains/unregister", .merchant, PageHandlers.unregisterDomain),
    ]
}

extension PageHandlers {
    func showDomains(_ call: PageCall) async throws -> PageReply {
        try await domainsPage(
            call, outcome: call.query["done"].flatMap(MerchantNotice.init(rawValue:)).map(PageOutcome.success))
    }

    private func domainsPage(
        _ call: PageCall, check: DomainCheckReport? = nil, hasRefusedRegistration: Bool = false,
        outcome: PageOutcome? = nil
    ) async throws -> PageReply {
        let merchant = try call.merchant()
        return .page(
            DomainsPage(
                merchant: try await operations.onboarding.merchant(merchant, in: call.scope).merchant,
                hasFile: try await hasDomainFile(), registrations: try await registrations(call, of: merchant),
                input: DomainsPage.Input(domain: call.form.text("domain"), name: call.form.text("name")),
                check: check, hasRefusedRegistration: hasRefusedRegistration, outcome: outcome))
    }

    private func registrations(
        _ call: PageCall, of merchant: MerchantIdentifier
    ) async throws -> [RegistrationView] {
        try await operations.onboarding.registrations(of: merchant, after: nil, limit: 20, in: call.scope)
    }

    private func hasDomainFile() async throws -> Bool {
        do {
            _ = try await operations.onboarding.domainFile()
            return true
        } catch let error as MerchantError where error.code == .domainFileNotSet {
            return false
        }
    }

    func downloadDomainFile(_ call: PageCall) async throws -> PageReply {
        .download(
            ByteBuffer(bytes: try await operations.onboarding.domainFile().bytes), mediaType: "text/plain",
            fileName: "apple-developer-merchantid-domain-association")
    }

    func checkDomain(_ call: PageCall) async throws -> PageReply {
        try await withDomain(call) { domain in
            try await domainsPage(call, check: try await operations.onboarding.checkDomain(domain))
        }
    }

    func registerDomain(_ call: PageCall) async throws -> PageReply {
        try await withDomain(call) { domain in
            let merchant = try call.merchant()
            let existing = try await registrations(call, of: merchant).first?.registration
            let name = call.form.text("name")
            guard existing != nil || !name.isEmpty else {
                return try await domainsPage(call, outcome: .problem(.nameMissing, requestId: nil))
            }
            // Apple refuses a domain that does not serve the file, but gives no reason. The check gives the reason.
            let check = try await operations.onboarding.checkDomain(domain)
            guard check.hasPassed else {
                return try await domainsPage(call, check: check, hasRefusedRegistration: true)
            }
            _ = try await operations.onboarding.register(
                RequestedRegistration(
                    partnerInternalMerchantIdentifier: existing?.partnerInternalMerchantIdentifier
                        ?? OnboardingOperations.defaultPartner(for: merchant),
                    partnerMerchantName: existing == nil ? name : nil, domainNames: [domain], encryptTo: nil,
                    merchantUrl: nil, merchantIdentifier: merchant), in: call.scope, for: call.requestWithFormKey())
            return .redirect("\(PortalPaths.domains)?done=\(MerchantNotice.domainsRegistered.rawValue)")
        }
    }

    func confirmUnregistration(_ call: PageCall) async throws -> PageReply {
        guard let partner = PartnerInternalMerchantIdentifier(text: call.query["partner"] ?? ""),
            let domain = DomainName(anySpelling: call.query["domain"] ?? "")
        else { throw MerchantError.noPage }
        _ = try await operations.onboarding.registration(partner, in: call.scope, for: call.request)
        return .page(UnregistrationPage(domain.rawValue, of: partner))
    }

    func unregisterDomain(_ call: PageCall) async throws -> PageReply {
        guard let partner = PartnerInternalMerchantIdentifier(text: call.form.text("partner")) else {
            throw MerchantError.noPage
        }
        return try await withDomain(call) { domain in
            _ = try await operations.onboarding.unregister(
                partner, domainNames: [domain], reason: "removed on the portal", dryRun: false, in: call.scope,
                for: call.request)
            return .redirect("\(PortalPaths.domains)?done=\(MerchantNotice.domainUnregistered.rawValue)")
        }
    }

    /// Runs `body` with the domain of the form. If the domain is missing or invalid, or if `body` throws a
    /// ``MerchantError`` other than `internalError`, shows the page of the domains with the problem.
    private func withDomain(
        _ call: PageCall, _ body: (DomainName) async throws -> PageReply
    ) async throws -> PageReply {
        let text = call.form.text("domain")
        guard !text.isEmpty else {
            return try await domainsPage(call, outcome: .problem(.domainMissing, requestId: nil))
        }
        guard let domain = DomainName(anySpelling: text) else {
            return try await domainsPage(call, outcome: .problem(.domainInvalid, requestId: nil))
        }
        do {
            return try await body(domain)
        } catch let error as MerchantError where error.code != .internalError {
            return try await domainsPage(
                call, outcome: .problem(MerchantProblem(error.code), requestId: call.requestId))
        }
    }
}
