import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension PortalRoutes {
    static let rolls: [PortalRoute] = [
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/rolls", logMessage: "roll started", PortalHandlers.startRoll),
        .reads(
            "/v1/rolls", scope: .checkedByHandler, query: ["merchant", "limit", "cursor"], PortalHandlers.listRolls),
        .reads("/v1/rolls/{rollId}", PortalHandlers.getRoll),
    ]
}

extension PortalHandlers {
    /// Starts the replacement of a merchant's key pair. The response has status 201 for a new roll, and 200 for a roll
    /// that exists already.
    func startRoll(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let body = try call.read(orEmpty: StartRollRequest())
        let (view, isNew) = try await operations.onboarding.startRoll(
            of: merchant, algorithm: body.algorithm, in: scope(call),
            for: call.requestWithIdempotencyKey(Paths.rolls(of: merchant)))
        let document = RollDocument(onPortal: view)
        let response =
            isNew ? try RESTResponse(created: document, at: Paths.roll(document.rollId)) : try RESTResponse(document)
        return response.withLogFields(merchant: merchant, key: view.roll.to)
    }

    func listRolls(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let merchant = try call.merchantInQuery()
        let found = try await operations.onboarding.rolls(
            of: merchant, before: try call.numericCursor(), limit: limit + 1, in: scope(call))
        return try conditionalResponse(
            Page(found, limit: limit, document: { RollDocument(onPortal: $0) }, cursor: { $0.roll.rollId }), call
        ).withLogFields(merchant: merchant)
    }

    func getRoll(_ call: RESTCall, _ roll: RollNumber) async throws -> RESTResponse {
        let view = try await operations.onboarding.roll(roll.number, in: scope(call))
        return try conditionalResponse(RollDocument(onPortal: view), call)
            .withLogFields(merchant: view.roll.merchantIdentifier)
    }
}

extension RESTCall {
    /// The query's `merchant`, which is required: the portal lists the rolls and registrations of one merchant.
    func merchantInQuery() throws(MerchantError) -> MerchantIdentifier {
        guard let merchant: MerchantIdentifier = try query.value("merchant") else {
            throw MerchantError(
                .malformed, "the query parameter 'merchant' is missing; send the merchant whose records you want")
        }
        return merchant
    }
}
