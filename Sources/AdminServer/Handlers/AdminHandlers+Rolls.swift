import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import ServerKit
import Vocabulary
import WireAPI

extension AdminRoute {
    static let rolls: [AdminRoute] = [
        changes(
            .post, "/v1/merchants/{merchantIdentifier}/rolls", action: "roll started", AdminHandlers.startRoll),
        reads(
            "/v1/rolls", scope: .checkedByHandler, query: ["merchant", "state", "limit", "cursor"],
            AdminHandlers.listRolls),
        reads("/v1/rolls/{rollId}", AdminHandlers.getRoll),
        changes(
            .post, "/v1/rolls/{rollId}/finish", action: "roll finished", effect: .destroys, AdminHandlers.finishRoll),
        changes(
            .post, "/v1/rolls/{rollId}/abandon", action: "roll abandoned", effect: .destroys,
            AdminHandlers.abandonRoll),
    ]
}

extension AdminHandlers {
    /// The status is 201 for a new roll, and 200 if a roll is already open.
    func startRoll(_ call: AdminCall, _ merchant: MerchantIdentifier) async throws -> AdminResponse {
        let body = try call.read(orEmpty: StartRollRequest())
        let (view, isNew) = try await operations.rolls.startRoll(
            of: merchant, algorithm: body.algorithm, for: call.creatingRequest(Paths.rolls(of: merchant)))
        let document = RollDocument(view)
        let response =
            isNew ? try AdminResponse(created: document, at: Paths.roll(document.rollId)) : try AdminResponse(document)
        return response.about(merchant: merchant, key: view.roll.to)
    }

    /// A caller whose permit is limited to some merchants must name one of them in the query.
    func listRolls(_ call: AdminCall) async throws -> AdminResponse {
        let limit = try call.limit()
        let merchant = try call.merchantToRead()
        let cursor = try call.numericCursor()
        let found = try await operations.rolls.rolls(
            of: merchant, state: try call.query["state"].map(Self.filter), before: cursor, limit: limit + 1)
        return try AdminResponse(Page(found, limit: limit, document: { RollDocument($0) }, cursor: { $0.roll.rollId }))
    }

    private static func filter(_ text: String) throws(MerchantError) -> RollStateFilter {
        if text == "open" { return .open }
        return .state(try RollState(text, named: "state"))
    }

    func getRoll(_ call: AdminCall, _ roll: RollNumber) async throws -> AdminResponse {
        let view = try await operations.rolls.roll(roll.number)
        return try AdminResponse(RollDocument(view)).about(merchant: view.roll.merchantIdentifier)
    }

    func finishRoll(_ call: AdminCall, _ roll: RollNumber) async throws -> AdminResponse {
        let body = try call.read(orEmpty: FinishRollRequest())
        let outcome = try await operations.rolls.finishRoll(
            roll.number, hurries: body.now ?? false, reason: body.reason, dryRun: body.dryRun ?? false,
            for: call.request)
        return try response(outcome)
    }

    func abandonRoll(_ call: AdminCall, _ roll: RollNumber) async throws -> AdminResponse {
        let body = try call.read(orEmpty: AbandonRollRequest())
        let outcome = try await operations.rolls.abandonRoll(
            roll.number, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request)
        return try response(outcome)
    }

    private func response(_ outcome: RollTransitions) throws -> AdminResponse {
        let roll = outcome.roll.roll
        return try AdminResponse(RollDocument(outcome)).about(
            merchant: roll.merchantIdentifier, key: roll.from, dryRun: outcome.dryRun)
    }
}
