import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoute {
    static let registrations: [AdminRoute] = [
        reads("/v1/registrations", query: ["limit", "cursor"], AdminHandlers.listRegistrations),
        changes(.post, "/v1/registrations", logMessage: "merchant registered with Apple", AdminHandlers.register),
        reads(
            "/v1/registrations/{partnerInternalMerchantIdentifier}", query: ["refresh"], AdminHandlers.getRegistration),
        changes(
            .delete, "/v1/registrations/{partnerInternalMerchantIdentifier}",
            logMessage: "domains unregistered with Apple",
            effect: .destroys, query: ["dryRun"], AdminHandlers.unregister),
        changes(
            .post, "/v1/registrations/sync", logMessage: "registrations compared with Apple",
            AdminHandlers.syncRegistrations),
    ]
}

extension AdminHandlers {
    func listRegistrations(_ call: AdminCall) async throws -> AdminResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: PartnerInternalMerchantIdentifier.self)
        let found = try await operations.registrations.registrations(after: cursor, limit: limit + 1)
        return try AdminResponse(
            Page(found, limit: limit, document: RegistrationDocument.init) {
                $0.registration.partnerInternalMerchantIdentifier.rawValue
            })
    }

    func register(_ call: AdminCall) async throws -> AdminResponse {
        let body = try call.read(RegisterRequest.self)
        let partner = body.partnerInternalMerchantIdentifier
        let view = try await operations.registrations.register(
            RegistrationOrder(
                partnerInternalMerchantIdentifier: partner, partnerMerchantName: body.partnerMerchantName,
                domainNames: try Self.checkCount(body.domainNames),
                encryptTo: body.encryptTo, merchantUrl: body.merchantUrl, merchantIdentifier: body.merchantIdentifier),
            for: call.requestWithIdempotencyKey(Paths.registrations))
        return try AdminResponse(created: RegistrationDocument(view), at: Paths.registration(partner))
            .withLogFields(merchant: view.registration.merchantIdentifier)
    }

    func getRegistration(_ call: AdminCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> AdminResponse
    {
        let view = try await operations.registrations.registration(
            partner, refresh: try call.query.flag("refresh"), for: call.request)
        return try AdminResponse(RegistrationDocument(view)).withLogFields(
            merchant: view.registration.merchantIdentifier)
    }

    func unregister(_ call: AdminCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> AdminResponse {
        let dryRun = try call.dryRun()
        let body = try call.read(UnregisterRequest.self)
        let result = try await operations.registrations.unregister(
            partner, domainNames: try body.domainNames.map(Self.checkCount), reason: body.reason, dryRun: dryRun,
            for: call.request)
        return try AdminResponse(UnregistrationDocument(result))
            .withLogFields(merchant: result.view.registration.merchantIdentifier, dryRun: dryRun)
    }

    func syncRegistrations(_ call: AdminCall) async throws -> AdminResponse {
        let body = try call.read(orEmpty: SyncRequest())
        let limit = body.limit ?? Page<RegistrationDocument>.defaultLimit
        guard (1...Page<RegistrationDocument>.largestLimit).contains(limit) else {
            throw MerchantError(
                .malformed, "'limit' is \(limit), expected 1 to \(Page<RegistrationDocument>.largestLimit)")
        }
        let repair = body.repair ?? false
        let report = try await operations.registrationSync.sync(
            after: body.cursor, limit: limit, repair: repair, for: call.request)
        // Without a repair, nothing changes at Apple, so the request is logged like a dry run.
        return try AdminResponse(SyncDocument(report)).withLogFields(dryRun: !repair)
    }

    /// - Returns: the same names.
    /// - Throws: `tooManyDomains` if there are more names than a registration can have.
    private static func checkCount(_ names: [DomainName]) throws(MerchantError) -> [DomainName] {
        guard names.count <= Registration.maximumDomains else {
            throw MerchantError(
                .tooManyDomains,
                "'domainNames' has \(names.count) names, expected at most \(Registration.maximumDomains)")
        }
        return names
    }
}
