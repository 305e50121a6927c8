import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension PortalRoutes {
    static let registrations: [PortalRoute] = [
        .reads(
            "/v1/registrations", scope: .checkedByHandler, query: ["merchant", "limit", "cursor"],
            PortalHandlers.listRegistrations),
        .changes(
            .post, "/v1/registrations", logMessage: "merchant registered with Apple", scope: .checkedByHandler,
            PortalHandlers.register),
        .reads("/v1/registrations/{partnerInternalMerchantIdentifier}", PortalHandlers.getRegistration),
        .changes(
            .delete, "/v1/registrations/{partnerInternalMerchantIdentifier}",
            logMessage: "domains unregistered with Apple", effect: .destroys, query: ["dryRun"],
            PortalHandlers.unregister),
    ]

    static let domains: [PortalRoute] = [
        .reads("/v1/domain-file", scope: .checkedByHandler, PortalHandlers.getDomainFile),
        .changes(
            .post, "/v1/domain-checks", logMessage: "domain checked", scope: .checkedByHandler,
            PortalHandlers.checkDomain),
        .reads(
            "/.well-known/apple-developer-merchantid-domain-association", permit: nil,
            PortalHandlers.getDomainFileBytes),
    ]
}

extension PortalHandlers {
    func listRegistrations(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let merchant = try call.merchantInQuery()
        let cursor = try call.query.value("cursor", as: PartnerInternalMerchantIdentifier.self)
        let found = try await operations.onboarding.registrations(
            of: merchant, after: cursor, limit: limit + 1, in: scope(call))
        return try conditionalResponse(
            Page(found, limit: limit, document: RegistrationDocument.init) {
                $0.registration.partnerInternalMerchantIdentifier.rawValue
            }, call
        ).withLogFields(merchant: merchant)
    }

    func register(_ call: RESTCall) async throws -> RESTResponse {
        let order = try RequestedRegistration(try call.read(RegisterRequest.self))
        let view = try await operations.onboarding.register(
            order, in: scope(call), for: call.requestWithIdempotencyKey(Paths.registrations))
        return try RESTResponse(
            created: RegistrationDocument(view), at: Paths.registration(order.partnerInternalMerchantIdentifier)
        ).withLogFields(merchant: view.registration.merchantIdentifier)
    }

    func getRegistration(
        _ call: RESTCall, _ partner: PartnerInternalMerchantIdentifier
    ) async throws -> RESTResponse {
        let view = try await operations.onboarding.registration(partner, in: scope(call), for: call.request)
        return try conditionalResponse(RegistrationDocument(view), call)
            .withLogFields(merchant: view.registration.merchantIdentifier)
    }

    func unregister(_ call: RESTCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> RESTResponse {
        let dryRun = try call.dryRun()
        let body = try call.read(UnregisterRequest.self)
        let result = try await operations.onboarding.unregister(
            partner, domainNames: try body.domainNames.map(Registration.checkCount), reason: body.reason,
            dryRun: dryRun, in: scope(call), for: call.request)
        return try RESTResponse(UnregistrationDocument(result))
            .withLogFields(merchant: result.view.registration.merchantIdentifier, dryRun: dryRun)
    }

    func getDomainFile(_ call: RESTCall) async throws -> RESTResponse {
        try conditionalResponse(DomainFileDocument(try await operations.onboarding.domainFile()), call)
    }

    /// Returns the domain verification file, with exactly the bytes that an admin stored. The route needs no permit,
    /// because the file is public: each merchant publishes it.
    func getDomainFileBytes(_ call: RESTCall) async throws -> RESTResponse {
        RESTResponse(
            bytes: ByteBuffer(bytes: try await operations.onboarding.domainFile().bytes), mediaType: "text/plain")
    }

    func checkDomain(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(DomainCheckRequest.self)
        return try RESTResponse(
            DomainCheckDocument(try await operations.onboarding.checkDomain(body.domainName)))
    }
}
