import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension AdminHandlers {
    /// 201 for a new roll, 200 for the one that is open already.
    func startRoll(_ call: AdminCall, of merchant: MerchantIdentifier) async throws -> Answer {
        let body = try call.read(orEmpty: StartRollRequest(algorithm: nil))
        let algorithm = try body.algorithm.map { text throws(MerchantError) in
            try KeyAlgorithm(text, named: "algorithm")
        }
        let (view, isNew) = try await operations.rolls.startRoll(
            of: merchant, algorithm: algorithm, for: call.creatingRequest(Paths.rolls(of: merchant)))
        let document = RollDocument(view)
        let answer = isNew ? try Answer(created: document, at: Paths.roll(document.rollId)) : try Answer(document)
        return answer.about(merchant: merchant, key: view.roll.to)
    }

    /// A caller with permits for some merchants names one of them.
    func rolls(_ call: AdminCall) async throws -> Answer {
        let limit = try call.limit()
        let merchant = try call.query["merchant"].map { text throws(MerchantError) in
            try MerchantIdentifier(text, named: "merchant")
        }
        if let merchant {
            try call.grants.require(.read, for: merchant)
        } else if !call.grants.allowsEveryMerchant(.read) {
            throw MerchantError(
                .forbidden, "the caller's permit 'read' is for some merchants, expected the query parameter 'merchant'")
        }
        let cursor = try call.query["cursor"].map { text throws(MerchantError) in
            guard let number = Int(text), number > 0 else {
                throw MerchantError(.malformed, "'cursor' is not one that an earlier page gave")
            }
            return number
        }
        let found = try await operations.rolls.rolls(
            of: merchant, state: try call.query["state"].map(Self.filter), before: cursor, limit: limit + 1)
        return try Answer(Page(found, limit: limit, document: { RollDocument($0) }, cursor: { $0.roll.rollId }))
    }

    private static func filter(_ text: String) throws(MerchantError) -> RollStateFilter {
        if text == "open" { return .open }
        return .state(try RollState(text, named: "state"))
    }

    func roll(_ call: AdminCall, _ number: Int) async throws -> Answer {
        let view = try await operations.rolls.roll(number)
        return try Answer(RollDocument(view)).about(merchant: view.roll.merchantIdentifier)
    }

    func finishRoll(_ call: AdminCall, _ number: Int) async throws -> Answer {
        let body = try call.read(orEmpty: FinishRollRequest(now: nil, reason: nil, dryRun: nil))
        let outcome = try await operations.rolls.finishRoll(
            number, hurries: body.now ?? false, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request)
        return try answer(outcome)
    }

    func abandonRoll(_ call: AdminCall, _ number: Int) async throws -> Answer {
        let body = try call.read(orEmpty: AbandonRollRequest(reason: nil, dryRun: nil))
        let outcome = try await operations.rolls.abandonRoll(
            number, reason: body.reason, dryRun: body.dryRun ?? false, for: call.request)
        return try answer(outcome)
    }

    private func answer(_ outcome: RollTransitions) throws -> Answer {
        let roll = outcome.roll.roll
        return try Answer(RollDocument(outcome)).about(
            merchant: roll.merchantIdentifier, key: roll.from, dryRun: outcome.dryRun)
    }
}
