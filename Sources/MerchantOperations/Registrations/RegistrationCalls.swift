package import MerchantCore
import Vocabulary

/// Makes the calls to Apple that change registrations.
///
/// Each call is stored before it is sent, and closed when its outcome is known. A call without a response stays open.
/// All methods except ``run(_:_:)`` and ``stored(_:)`` must be called in the body of ``run(_:_:)``, which waits for the
/// merchant's turn.
package struct RegistrationCalls: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & RegistrationReading,
        any MerchantReading & RegistrationWriting & ChangeRecording
    >

    let records: Records
    let clock: any WallClock
    private let gateway: any RegistrationGateway
    private let confirmedTime: ConfirmedTime
    /// All callers share this queue, because at most one call to Apple may run for each merchant at a time.
    private let queue = PerMerchantQueue()

    package init(
        records: Records, gateway: any RegistrationGateway, clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.gateway = gateway
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// Runs `body` when no other call for the merchant runs.
    func run<Result: Sendable>(
        _ partner: PartnerInternalMerchantIdentifier, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await queue.run(partner, body)
    }

    /// How long after it was stored a call without a response may still reach Apple: the longest duration of a call,
    /// plus one minute.
    ///
    /// Before that time, Apple may still perform a call that Apple's record does not show. After it, such a call was
    /// not performed.
    package static let lateArrival = RegistrationCall.longest + .seconds(60)

    /// Stores a call, sends it to Apple, and stores its outcome.
    ///
    /// - Parameter sending: the domains to send, without those that Apple has already.
    /// - Returns: the registration after a successful call.
    /// - Throws: `gatewayResponseNotReceived` if the outcome is unknown; the call stays open until it is known.
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
            finding: receipt.mayArriveAgain ? "Apple responded after an attempt without a response" : nil, known: nil,
            for: request)
        guard content.isDone(in: registration.known?.details) else {
            // Apple's response only says that Apple accepted the call, and Apple does not document the result of such a
            // call. So read Apple's record. If that fails, the next sync reads it.
            guard let known = try? await ask(partner) else { return registration }
            return try await learn(known, of: partner, for: request) ?? registration
        }
        return registration
    }

    /// Reads Apple's record of the registration.
    func ask(_ partner: PartnerInternalMerchantIdentifier) async throws(MerchantError) -> KnownRegistration {
        let details: GatewayDetails?
        do { details = try await gateway.details(of: partner) } catch { throw MerchantError(error) }
        guard let details else { return KnownRegistration(details: nil, learnedAt: clock.now) }
        return KnownRegistration(details: try .init(details), learnedAt: clock.now)
    }

    /// Stores Apple's record of a registration.
    ///
    /// - Returns: the registration; nil if the daemon has not stored it, in which case nothing changes.
    @discardableResult
    func learn(
        _ known: KnownRegistration, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Registration? {
        let now = clock.now
        return try await records.write { transaction in
            guard let before = try transaction.registration(partner) else { return nil }
            var after = before
            after.known = known
            try transaction.update(after)
            try transaction.noteDrift(from: before, to: after, for: request, at: now)
            return after
        }
    }

    /// The stored registration.
    func stored(_ partner: PartnerInternalMerchantIdentifier) async throws -> RegistrationView {
        let now = clock.now
        return try await records.read { try $0.view(try $0.existingRegistration(partner), .mirror, at: now) }
    }

    /// Changes only the desired state. No call is needed, because Apple's record is already as desired.
    func adopt(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, reason: String,
        for request: Request
    ) async throws {
        let now = clock.now
        try await records.write { transaction in
            guard let before = try transaction.registration(partner) else { return }
            _ = try requireCovered(partner, by: content, in: transaction)
            var after = before
            after.apply(content, at: now)
            if after != before {
                try transaction.update(after)
                try transaction.append(
                    request.entry(
                        .registrationChanged, at: now, merchant: after.merchantIdentifier, before: before.summary,
                        after: after.summary, reason: content.reason ?? reason))
            }
            try request.idempotency.remember(partner.rawValue, at: confirmedTime.reading(), in: transaction)
        }
    }

    /// Tries to find the outcome of the merchant's open call, if there is one. If the call stays open,
    /// ``perform(_:sending:of:for:)`` decides whether a new call may be made.
    func resolveIfOpen(_ partner: PartnerInternalMerchantIdentifier, for request: Request) async throws {
        guard let call = try await records.read({ try $0.openCall(of: partner) }) else { return }
        _ = try? await resolve(call, for: request)
    }

    /// Refuses a new call whose result could depend on an earlier call with an unknown outcome.
    ///
    /// Earlier calls are the open one, and those that were sent more than once: an attempt without a response may still
    /// reach Apple, even after the new call.
    ///
    /// - Returns: the open call; nil if there is none.
    /// - Throws: `registrationConflict` if the new call does not include all that the open one requests, or if a late
    ///   attempt of an earlier call could undo the new one.
    func requireCovered(
        _ partner: PartnerInternalMerchantIdentifier, by content: RegistrationCall.Content,
        in transaction: any RegistrationReading
    ) throws -> RegistrationCall? {
        let open = try transaction.openCall(of: partner)
        let repeated = try transaction.repeatedCalls(of: partner, since: clock.now.adding(.zero - Self.lateArrival))
        if let open, !content.covers(open.content) { throw unresolved(open, .registrationConflict) }
        for call in repeated where content.isUndone(by: call.content) { throw mayArriveAgain(call) }
        return open
    }

    /// Finds the outcome of an open call in Apple's record.
    ///
    /// - Returns: whether the call is closed now. A call that may still reach Apple stays open.
    func resolve(_ call: RegistrationCall, for request: Request) async throws -> Bool {
        let known = try await ask(call.partnerInternalMerchantIdentifier)
        let mayStillArrive = call.openedAt.adding(Self.lateArrival) > clock.now
        if call.content.isDone(in: known.details) {
            // The gateway may have sent the call more than once: one attempt succeeded, another may still reach Apple.
            _ = try await conclude(
                call, .done, mayArriveAgain: mayStillArrive && call.content.isTriedAgain,
                finding: "Apple's record shows it", known: known, for: request)
            return true
        }
        guard !mayStillArrive else {
            try await learn(known, of: call.partnerInternalMerchantIdentifier, for: request)
            return false
        }
        _ = try await conclude(
            call, .notDone, finding: "Apple's record does not show it", known: known, for: request)
        return true
    }
}

extension RegistrationCalls {
    private func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> RegistrationCall {
        let now = clock.now
        return try await records.write { transaction in
            if let earlier = try self.requireCovered(partner, by: content, in: transaction) {
                try transaction.close(
                    earlier, .repeated, finding: "sent again by request \(request.requestId)", at: now)
            }
            let registration = try transaction.registration(partner)
            if case .register(let wanted, let merchant) = content {
                if let merchant { _ = try transaction.existingMerchant(merchant) }
                try RegistrationRules.checkTotal(of: registration, adding: wanted.domainNames)
                if registration == nil {
                    try transaction.insert(Registration(partner, requested: wanted, merchant: merchant, at: now))
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

    /// Handles a call that failed.
    ///
    /// If Apple may have performed the call, Apple's record decides whether it did. It also decides if Apple refused
    /// the call: Apple does not document its response to a repeat, so the refusal may mean that the call was performed
    /// earlier.
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
        throw unresolved(call, .gatewayResponseNotReceived, after: error)
    }

    /// Closes a call: stores its outcome, and the desired state and Apple's record as they are after it.
    ///
    /// - Parameters:
    ///   - mayArriveAgain: whether another attempt of a successful call may still reach Apple. The outcome
    ///     `repeated` is then stored.
    ///   - known: Apple's record, if it was read; nil to derive it from the outcome.
    private func conclude(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, mayArriveAgain: Bool = false, finding: String?,
        known: KnownRegistration?, for request: Request
    ) async throws -> Registration {
        let now = clock.now
        return try await records.write { transaction in
            guard let before = try transaction.registration(call.partnerInternalMerchantIdentifier) else {
                throw MerchantError(.internalError, "\(call.title) is stored without its registration")
            }
            var after = before
            if outcome == .done { after.apply(call.content, at: now) }
            if let known {
                after.known = known
            } else if outcome == .done, let expected = call.content.applied(to: before.known, at: now) {
                after.known = expected
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
            "an attempt of \(call.title) (\(call.content.summary.prefix(200))) got no response and may reach Apple until \(certain): it would undo this request, repeat the request after that time",
            retryAfter: wait)
    }

    /// When an open call can no longer reach Apple, so that Apple's record shows its outcome; and the seconds until
    /// then.
    private func certainty(of call: RegistrationCall) -> (at: Timestamp, seconds: Int) {
        let certain = call.openedAt.adding(Self.lateArrival)
        return (
            certain, Int(max(1, (certain.millisecondsSince1970 - clock.now.millisecondsSince1970 + 999) / 1000))
        )
    }

    private func unresolved(
        _ call: RegistrationCall, _ code: MerchantError.Code, after error: GatewayError? = nil
    ) -> MerchantError {
        let (certain, wait) = certainty(of: call)
        let cause = error.map { "\($0.kind.rawValue): \($0.finding); " } ?? ""
        return MerchantError(
            code,
            "\(cause)the outcome of \(call.title) (\(call.content.summary.prefix(200))) is unknown: the daemon asks Apple, and knows it at \(certain) at the latest if Apple responds by then; it is safe to repeat the same request",
            retryAfter: wait)
    }
}
