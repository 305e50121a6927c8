import MerchantCore
import Vocabulary

// One call to Apple, from intent to outcome. Everything here runs in the merchant's turn (PerMerchantQueue).

extension MerchantOperations {
    /// For how long, from the moment it was put on record, a call that got no answer may still be on its way: as long as
    /// one may take, and a minute more. Only later does Apple's record prove that it was not done.
    package static let lateArrival = RegistrationCall.longest + .seconds(60)

    /// Puts the call on record, makes it, and puts its outcome on record.
    ///
    /// - Parameter sending: the domains that Apple is told; those it has already are left out.
    /// - Returns: the registration once it is done.
    /// - Throws: `gatewayResponseNotReceived` where nobody knows what Apple did: the call stays on record until that is known.
    func perform(
        _ content: RegistrationCall.Content, sending: Set<DomainName>,
        of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Registration {
        let call = try await open(content, of: partner, for: request)
        let receipt: GatewayReceipt
        do throws(GatewayError) {
            receipt = try await send(call, sending)
        } catch {
            return try await recover(call, from: error, for: request)
        }
        let registration = try await conclude(
            call, .done, mayArriveAgain: receipt.mayArriveAgain,
            finding: receipt.mayArriveAgain ? "answered, after a try that was not" : nil, known: nil, for: request)
        guard content.isDone(in: registration.known?.details) else {
            // Apple documents no more than that it accepted: what it has now, only Apple can say. Where it does not
            // say so, sync will ask again.
            guard let known = try? await ask(partner) else { return registration }
            return try await learn(known, of: partner, for: request) ?? registration
        }
        return registration
    }

    /// What Apple has, asked now.
    func ask(_ partner: PartnerInternalMerchantIdentifier) async throws(MerchantError) -> KnownRegistration {
        let answer: GatewayDetails?
        do { answer = try await gateway.details(of: partner) } catch { throw MerchantError(error) }
        guard let answer else { return KnownRegistration(details: nil, learnedAt: clock.now) }
        return KnownRegistration(details: try .init(answer), learnedAt: clock.now)
    }

    /// Records what Apple has, if the merchant is one of ours.
    @discardableResult
    func learn(
        _ known: KnownRegistration, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Registration? {
        let now = clock.now
        return try await repository.write { transaction in
            guard let before = try transaction.registration(partner) else { return nil }
            var after = before
            after.known = known
            try transaction.update(after)
            try transaction.noteDrift(from: before, to: after, for: request, at: now)
            return after
        }
    }

    /// Before anything new: tries to settle what is open. Where it stays open, ``perform(_:sending:of:for:)`` judges.
    func settleIfOpen(_ partner: PartnerInternalMerchantIdentifier, for request: Request) async throws {
        guard let call = try await repository.read({ try $0.openCall(of: partner) }) else { return }
        _ = try? await settle(call, for: request)
    }

    /// Judges a new call by those whose outcome nobody knows.
    ///
    /// One that was asked for again, by a later call or a later try, counts for as long as it may still be on its way: it
    /// could arrive after the new one.
    ///
    /// - Returns: the one that is open.
    /// - Throws: `registrationConflict` for an open one that the new call does not cover, and for one that would undo it.
    func requireCovered(
        _ partner: PartnerInternalMerchantIdentifier, by content: RegistrationCall.Content,
        in transaction: any MerchantTransaction
    ) throws -> RegistrationCall? {
        let open = try transaction.openCall(of: partner)
        let repeated = try transaction.repeatedCalls(of: partner, since: clock.now.adding(.zero - Self.lateArrival))
        if let open, !content.covers(open.content) { throw unsettled(open, .registrationConflict) }
        for call in repeated where content.isUndone(by: call.content) { throw mayArriveAgain(call) }
        return open
    }

    /// Asks Apple what became of a call that got no answer.
    ///
    /// - Returns: whether it is closed. It stays open while it may still be on its way.
    func settle(_ call: RegistrationCall, for request: Request) async throws -> Bool {
        let known = try await ask(call.partnerInternalMerchantIdentifier)
        let isYoung = call.openedAt.adding(Self.lateArrival) > clock.now
        if call.content.isDone(in: known.details) {
            // Who made it may have tried more than once, and is not here to tell: one try is done, another may come.
            _ = try await conclude(
                call, .done, mayArriveAgain: isYoung && call.content.isTriedAgain,
                finding: "Apple's record shows it", known: known, for: request)
            return true
        }
        guard !isYoung else {
            try await learn(known, of: call.partnerInternalMerchantIdentifier, for: request)
            return false
        }
        _ = try await conclude(
            call, .notDone, finding: "Apple's record does not show it", known: known, for: request)
        return true
    }
}

extension MerchantOperations {
    private func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> RegistrationCall {
        let now = clock.now
        return try await repository.write { transaction in
            if let earlier = try self.requireCovered(partner, by: content, in: transaction) {
                try transaction.close(
                    earlier, .repeated, finding: "asked for again by request \(request.requestId)", at: now)
            }
            let registration = try transaction.registration(partner)
            if case .register(let wanted, let merchant) = content {
                if let merchant { _ = try transaction.existingMerchant(merchant) }
                try RegistrationRules.judgeTotal(of: registration, adding: wanted.domainNames)
                if registration == nil {
                    try transaction.insert(Registration(partner, likely: wanted, merchant: merchant, at: now))
                }
            }
            let call = try transaction.open(content, of: partner, requestId: request.requestId, at: now)
            try transaction.append(
                request.entry(
                    .registrationCallOpened, at: now, merchant: registration?.merchantIdentifier,
                    after: "\(call.title): \(content.summary)", reason: content.reason))
            return call
        }
    }

    private func send(
        _ call: RegistrationCall, _ domainNames: Set<DomainName>
    ) async throws(GatewayError) -> GatewayReceipt {
        switch call.content {
        case .register(let wanted, _):
            return try await gateway.register(
                GatewayRegistration(
                    partnerInternalMerchantIdentifier: call.partnerInternalMerchantIdentifier,
                    partnerMerchantName: wanted.partnerMerchantName, domainNames: domainNames.sorted(),
                    encryptTo: wanted.encryptTo, merchantUrl: wanted.merchantUrl))
        case .unregister(_, let reason):
            try await gateway.unregister(
                call.partnerInternalMerchantIdentifier, domainNames: domainNames.sorted(), reason: reason)
            return GatewayReceipt(mayArriveAgain: false)
        }
    }

    /// After an exchange that did not end as asked: Apple's record decides wherever Apple may have acted, and where it
    /// refused what may have been done before, because a repeat of the same is not documented.
    private func recover(
        _ call: RegistrationCall, from error: GatewayError, for request: Request
    ) async throws -> Registration {
        let isUncertain = error.mayHaveActed
        var known: KnownRegistration?
        if isUncertain || error.kind == .refused {
            known = try? await ask(call.partnerInternalMerchantIdentifier)
            if let known, call.content.isDone(in: known.details) {
                return try await conclude(
                    call, .done, mayArriveAgain: error.uncertainTries > 1,
                    finding: "Apple's record shows it, after \(error.kind.rawValue): \(error.finding)", known: known,
                    for: request)
            }
        }
        guard isUncertain else {
            _ = try await conclude(
                call, .refused, finding: "\(error.kind.rawValue): \(error.finding)", known: known, for: request)
            throw MerchantError(error)
        }
        if let known { try await learn(known, of: call.partnerInternalMerchantIdentifier, for: request) }
        throw unsettled(call, .gatewayResponseNotReceived, after: error)
    }

    /// Records how a call ended, and what that means for what is wanted and what is known.
    ///
    /// - Parameters:
    ///   - mayArriveAgain: whether a try of a call that is done may still be on its way: it stays on record as repeated.
    ///   - known: what Apple was found to have; nil to tell from the outcome.
    private func conclude(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, mayArriveAgain: Bool = false, finding: String?,
        known: KnownRegistration?, for request: Request
    ) async throws -> Registration {
        let now = clock.now
        return try await repository.write { transaction in
            guard let before = try transaction.registration(call.partnerInternalMerchantIdentifier) else {
                throw MerchantError(.internalError, "\(call.title) is on record without its registration")
            }
            var after = before
            if outcome == .done { after.apply(call.content, at: now) }
            if let known {
                after.known = known
            } else if outcome == .done, let told = call.content.applied(to: before.known, at: now) {
                after.known = told
            }
            try transaction.update(after)
            try transaction.close(call, mayArriveAgain ? .repeated : outcome, finding: finding, at: now)
            try transaction.append(
                request.entry(
                    outcome == .done ? .registrationChanged : .registrationCallFailed, at: now,
                    merchant: after.merchantIdentifier, before: before.summary,
                    after: outcome == .done ? after.summary : "\(call.title): \(outcome.rawValue)", reason: finding))
            try transaction.noteDrift(from: before, to: after, for: request, at: now)
            if outcome == .done {
                try request.idempotency.remember(
                    call.partnerInternalMerchantIdentifier.rawValue, at: confirmedTime.reading(), in: transaction)
            }
            return after
        }
    }

    private func mayArriveAgain(_ call: RegistrationCall) -> MerchantError {
        let (certain, wait) = certainty(of: call)
        return MerchantError(
            .registrationConflict,
            "a try of \(call.title) (\(call.content.summary.prefix(200))) got no answer and may reach Apple until \(certain): it would undo what is asked now, expected that once this time is over",
            retryAfter: wait)
    }

    /// When Apple's record is the last word on a call, and in how many seconds.
    private func certainty(of call: RegistrationCall) -> (at: Timestamp, seconds: Int) {
        let certain = call.openedAt.adding(Self.lateArrival)
        return (
            certain, Int(max(1, (certain.millisecondsSince1970 - clock.now.millisecondsSince1970 + 999) / 1000))
        )
    }

    private func unsettled(
        _ call: RegistrationCall, _ code: MerchantError.Code, after error: GatewayError? = nil
    ) -> MerchantError {
        let (certain, wait) = certainty(of: call)
        let cause = error.map { "\($0.kind.rawValue): \($0.finding); " } ?? ""
        return MerchantError(
            code,
            "\(cause)nobody knows yet whether Apple did what \(call.title) asked for (\(call.content.summary.prefix(200))): it is settled by asking Apple, at \(certain) at the latest once Apple answers; asking for the same again is safe",
            retryAfter: wait)
    }
}
