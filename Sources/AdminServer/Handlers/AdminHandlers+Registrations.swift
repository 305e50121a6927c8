import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let registrations: [AdminRoute] = [
        .reads("/v1/registrations", query: ["limit", "cursor"], AdminHandlers.listRegistrations),
        .changes(.post, "/v1/registrations", logMessage: "merchant registered with Apple", AdminHandlers.register),
        .reads(
            "/v1/registrations/{partnerInternalMerchantIdentifier}", query: ["refresh"], AdminHandlers.getRegistration),
        .changes(
            .delete, "/v1/registrations/{partnerInternalMerchantIdentifier}",
            logMessage: "domains unregistered with Apple",
            effect: .destroys, query: ["dryRun"], AdminHandlers.unregister),
        .changes(
            .post, "/v1/registrations/sync", logMessage: "registrations compared with Apple",
            AdminHandlers.syncRegistrations),
    ]
}

extension AdminHandlers {
    func listRegistrations(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let cursor = try call.query.value("cursor", as: PartnerInternalMerchantIdentifier.self)
        let found = try await operations.registrations.registrations(after: cursor, limit: limit + 1)
        return try RESTResponse(
            Page(found, limit: limit, document: RegistrationDocument.init) {
                $0.registration.partnerInternalMerchantIdentifier.rawValue
            })
    }

    func register(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(RegisterRequest.self)
        let view = try await operations.registrations.register(
            RequestedRegistration(body), for: call.requestWithIdempotencyKey(Paths.registrations))
        let path = Paths.registration(body.partnerInternalMerchantIdentifier)
        return try RESTResponse(created: RegistrationDocument(view), at: path)
            .withLogFields(merchant: view.registration.merchantIdentifier)
    }

    func getRegistration(_ call: RESTCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> RESTResponse {
        let view = try await operations.registrations.registration(
            partner, refresh: try call.query.flag("refresh"), for: call.request)
        return try RESTResponse(RegistrationDocument(view)).withLogFields(
            merchant: view.registration.merchantIdentifier)
    }

    func unregister(_ call: RESTCall, _ partner: PartnerInternalMerchantIdentifier) async throws -> RESTResponse {
        let dryRun = try call.dryRun()
        let body = try call.read(UnregisterRequest.self)
        let result = try await operations.registrations.unregister(
            partner, domainNames: try body.domainNames.map(Registration.checkCount), reason: body.reason,
            dryRun: dryRun, for: call.request)
        return try RESTResponse(UnregistrationDocument(result))
            .withLogFields(merchant: result.view.registration.merchantIdentifier, dryRun: dryRun)
    }

    func syncRegistrations(_ call: RESTCall) async throws -> RESTResponse {
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
        return try RESTResponse(SyncDocument(report)).withLogFields(dryRun: !repair)
    }
}
