import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoutes {
    static let rolls: [AdminRoute] = [
        .changes(
            .post, "/v1/merchants/{merchantIdentifier}/rolls", logMessage: "roll started", AdminHandlers.startRoll),
        .reads(
            "/v1/rolls", scope: .checkedByHandler, query: ["merchant", "state", "limit", "cursor"],
            AdminHandlers.listRolls),
        .reads("/v1/rolls/{rollId}", AdminHandlers.getRoll),
        .changes(
            .post, "/v1/rolls/{rollId}/finish", logMessage: "roll finished", effect: .destroys, AdminHandlers.finishRoll
        ),
        .changes(
            .post, "/v1/rolls/{rollId}/abandon", logMessage: "roll abandoned", effect: .destroys,
            AdminHandlers.abandonRoll),
    ]
}

extension AdminHandlers {
    /// Starts a roll, the replacement of a merchant's key pair. The response has status 201 for a new roll, and 200
    /// with the open roll if the merchant already has an open roll of the algorithm.
    func startRoll(_ call: RESTCall, _ merchant: MerchantIdentifier) async throws -> RESTResponse {
        let body = try call.read(orEmpty: StartRollRequest())
        let (view, isNew) = try await operations.rolls.startRoll(
            of: merchant, algorithm: body.algorithm, for: call.requestWithIdempotencyKey(Paths.rolls(of: merchant)))
        let document = RollDocument(view)
        let response =
            isNew ? try RESTResponse(created: document, at: Paths.roll(document.rollId)) : try RESTResponse(document)
        return response.withLogFields(merchant: merchant, key: view.roll.to)
    }

    /// Lists rolls. A caller whose permit is limited to some merchants must name one of them in the query.
    func listRolls(_ call: RESTCall) async throws -> RESTResponse {
        let limit = try call.limit()
        let merchant = try call.merchantToRead(.read)
        let cursor = try call.numericCursor()
        let found = try await operations.rolls.rolls(
            of: merchant, state: try call.query["state"].map(Self.stateFilter), before: cursor, limit: limit + 1)
        return try RESTResponse(Page(found, limit: limit, document: { RollDocument($0) }, cursor: { $0.roll.rollId }))
    }

    /// - Parameter text: the name of a state, or `open` for all rolls that have not ended.
    private static func stateFilter(_ text: String) throws(MerchantError) -> RollStateFilter {
        if text == "open" { return .open }
        return .state(try RollState(text, named: "state"))
    }

    func getRoll(_ call: RESTCall, _ roll: RollNumber) async throws -> RESTResponse {
        let view = try await operations.rolls.roll(roll.number)
        return try RESTResponse(RollDocument(view)).withLogFields(merchant: view.roll.merchantIdentifier)
    }

    func finishRoll(_ call: RESTCall, _ roll: RollNumber) async throws -> RESTResponse {
        let body = try call.read(orEmpty: FinishRollRequest())
        let result = try await operations.rolls.finishRoll(
            roll.number, evenIfNotQuiet: body.now ?? false, reason: body.reason, dryRun: body.dryRun ?? false,
            for: call.request)
        return try response(result)
    }

    func abandonRoll(_ call: RESTCall, _ roll: RollNumber) async throws -> RESTResponse {
        let body = try call.read(orEmpty: AbandonRollRequest())
        let result = try await operations.rolls.abandonRoll(
            roll.number, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request)
        return try response(result)
    }

    private func response(_ result: RollTransitionResult) throws -> RESTResponse {
        let roll = result.roll.roll
        return try RESTResponse(RollDocument(result)).withLogFields(
            merchant: roll.merchantIdentifier, key: roll.from, dryRun: result.dryRun)
    }
}
