package import MerchantCore
import Vocabulary

/// Makes the calls to Apple that change registrations.
///
/// Each call is stored before it is sent, and closed when its outcome is known. Until then, the call is open.
/// All methods except ``run(_:_:)`` and ``storedView(of:)`` must be called in the body of ``run(_:_:)``, so that no two
/// calls for the same merchant run at once.
package struct RegistrationCalls: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & RegistrationReading,
        any MerchantReading & RegistrationWriting & ChangeRecording
    >

    let records: Records
    let clock: any WallClock
    private let gateway: any RegistrationGateway
    /// Decides when idempotency records expire, so that a wrong machine clock does not make them expire early.
    private let confirmedTime: ConfirmedTime
    /// Shared by all callers, so that at most one call to Apple runs for each merchant at a time.
    private let queue = PerMerchantQueue()

    package init(
        records: Records, gateway: any RegistrationGateway, clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.gateway = gateway
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// Runs `body` when no other body runs for the same merchant, and fewer than ``PerMerchantQueue/width`` run in all.
    /// `body` continues if the caller is cancelled.
    func run<Result: Sendable>(
        _ partner: PartnerInternalMerchantIdentifier, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await queue.run(partner, body)
    }

    /// A stored call may still reach Apple for this long: the time limit of a call plus one minute. If Apple's record
    /// does not show the call's result after that, Apple did not perform the call.
    package static let latestArrivalDelay = RegistrationCall.timeLimit + .seconds(60)

    /// Stores a call, sends it to Apple, and stores its outcome.
    ///
    /// - Parameter sending: the domains of `content` that need a change at Apple. Only these are sent to Apple.
    /// - Returns: the registration after a successful call.
    /// - Throws: `registrationConflict`; `gatewayResponseNotReceived` if the outcome is unknown, in which case the call
    ///   stays open; another code `gateway…` if the call failed.
    func perform(
        _ content: RegistrationCall.Content, sending: Set<DomainName>,
        of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Registration {
        let call = try await open(content, of: partner, for: request)
        let receipt: GatewayReceipt
        do throws(GatewayError) {
            receipt = try await send(call, sending)
        } catch {
            return try await handle(error, of: call, for: request)
        }
        let registration = try await closeCall(
            call, .done, anotherAttemptMayArrive: receipt.anotherAttemptMayArrive,
            finding: receipt.anotherAttemptMayArrive
                ? "Apple confirmed the call; an earlier attempt received no response" : nil,
            appleRecord: nil, for: request)
        guard content.isDone(in: registration.appleRecord?.details) else {
            // Apple accepted the call, but does not document what its record then contains. So read Apple's record. If
            // reading fails, the next sync reads the record.
            guard let appleRecord = try? await readAppleRecord(of: partner) else { return registration }
            return try await storeAppleRecord(appleRecord, of: partner, for: request) ?? registration
        }
        return registration
    }

    /// Reads Apple's record of the registration. Its ``AppleRecord/details`` are nil if Apple has no such registration.
    func readAppleRecord(
        of partner: PartnerInternalMerchantIdentifier
    ) async throws(MerchantError) -> AppleRecord {
        let details: GatewayDetails?
        do { details = try await gateway.details(of: partner) } catch { throw MerchantError(error) }
        guard let details else { return AppleRecord(details: nil, learnedAt: clock.now) }
        return AppleRecord(details: try .init(details), learnedAt: clock.now)
    }

    /// Stores Apple's record of a registration.
    ///
    /// - Returns: the changed registration; nil if the daemon has stored none for `partner`, in which case nothing is
    ///   written.
    @discardableResult
    func storeAppleRecord(
        _ appleRecord: AppleRecord, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> Registration? {
        let now = clock.now
        return try await records.write { transaction in
            guard let before = try transaction.registration(partner) else { return nil }
            var after = before
            after.appleRecord = appleRecord
            try transaction.update(after)
            try transaction.auditDrift(from: before, to: after, for: request, at: now)
            return after
        }
    }

    /// The stored registration.
    func storedView(of partner: PartnerInternalMerchantIdentifier) async throws -> RegistrationView {
        let now = clock.now
        return try await records.read { try $0.view(try $0.existingRegistration(partner), .mirror, at: now) }
    }

    /// Changes only the stored desired state. Called if Apple's record needs no change.
    func changeDesiredState(
        to content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, reason: String,
        for request: Request
    ) async throws {
        let now = clock.now
        try await records.write { transaction in
            guard let before = try transaction.registration(partner) else { return }
            _ = try checkConflicts(of: content, for: partner, in: transaction)
            var after = before
            after.apply(content, at: now)
            if after != before {
                try transaction.update(after)
                try transaction.append(
                    request.auditEntry(
                        .registrationChanged, at: now, merchant: after.merchantIdentifier, before: before.summary,
                        after: after.summary, reason: content.reason ?? reason))
            }
            try request.idempotency.remember(partner.rawValue, at: confirmedTime.reading(), in: transaction)
        }
    }

    /// Tries to find the outcome of the merchant's open call, if there is one. Ignores a failure: the call then stays
    /// open, and ``perform(_:sending:of:for:)`` decides whether a new call may be made.
    func resolveIfOpen(_ partner: PartnerInternalMerchantIdentifier, for request: Request) async throws {
        guard let call = try await records.read({ try $0.openCall(of: partner) }) else { return }
        _ = try? await resolve(call, for: request)
    }

    /// Refuses a new call that conflicts with an earlier call that may still reach Apple. Such an earlier call is the
    /// open call, or a call that was sent again because an attempt received no response.
    ///
    /// - Returns: the open call; nil if there is none.
    /// - Throws: `registrationConflict` if the new call does not include all that the open call requests, or if a late
    ///   attempt of an earlier call could undo the new call.
    func checkConflicts(
        of content: RegistrationCall.Content, for partner: PartnerInternalMerchantIdentifier,
        in transaction: any RegistrationReading
    ) throws -> RegistrationCall? {
        let open = try transaction.openCall(of: partner)
        let repeated = try transaction.repeatedCalls(
            of: partner, since: clock.now.adding(.zero - Self.latestArrivalDelay))
        if let open, !content.covers(open.content) { throw outcomeUnknown(of: open, .registrationConflict) }
        for call in repeated where content.isUndone(by: call.content) { throw lateAttemptConflict(with: call) }
        return open
    }

    /// Finds the outcome of an open call in Apple's record.
    ///
    /// - Returns: whether the call is closed now. A call that may still reach Apple stays open.
    func resolve(_ call: RegistrationCall, for request: Request) async throws -> Bool {
        let appleRecord = try await readAppleRecord(of: call.partnerInternalMerchantIdentifier)
        let mayStillArrive = call.openedAt.adding(Self.latestArrivalDelay) > clock.now
        if call.content.isDone(in: appleRecord.details) {
            // `RegistrationGateway` may have sent the call more than once: one attempt succeeded, and another may still
            // reach Apple.
            _ = try await closeCall(
                call, .done, anotherAttemptMayArrive: mayStillArrive && call.content.isRetriedByGateway,
                finding: "Apple's record shows the result of the call", appleRecord: appleRecord, for: request)
            return true
        }
        guard !mayStillArrive else {
            try await storeAppleRecord(appleRecord, of: call.partnerInternalMerchantIdentifier, for: request)
            return false
        }
        _ = try await closeCall(
            call, .notDone, finding: "Apple's record does not show the result of the call", appleRecord: appleRecord,
            for: request)
        return true
    }
}

extension RegistrationCalls {
    /// Stores a call, before it is sent. A new registration is stored too. An open call that the new call repeats is
    /// closed.
    private func open(
        _ content: RegistrationCall.Content, of partner: PartnerInternalMerchantIdentifier, for request: Request
    ) async throws -> RegistrationCall {
        let now = clock.now
        return try await records.write { transaction in
            if let earlier = try self.checkConflicts(of: content, for: partner, in: transaction) {
                try transaction.close(
                    earlier, .repeated, finding: "sent again by request \(request.requestId)", at: now)
            }
            let registration = try transaction.registration(partner)
            if case .register(let desired, let merchant) = content {
                if let merchant { _ = try transaction.existingMerchant(merchant) }
                try RegistrationRules.checkTotal(of: registration, adding: desired.domainNames)
                if registration == nil {
                    try transaction.insert(Registration(partner, requested: desired, merchant: merchant, at: now))
                }
            }
            let call = try transaction.open(content, of: partner, requestId: request.requestId, at: now)
            try transaction.append(
                request.auditEntry(
                    .registrationCallOpened, at: now, merchant: registration?.merchantIdentifier,
                    after: "\(call.title): \(content.summary)", reason: content.reason))
            return call
        }
    }

    private func send(
        _ call: RegistrationCall, _ domainNames: Set<DomainName>
    ) async throws(GatewayError) -> GatewayReceipt {
        switch call.content {
        case .register(let desired, _):
            return try await gateway.register(
                GatewayRegistration(
                    partnerInternalMerchantIdentifier: call.partnerInternalMerchantIdentifier,
                    partnerMerchantName: desired.partnerMerchantName, domainNames: domainNames.sorted(),
                    encryptTo: desired.encryptTo, merchantUrl: desired.merchantUrl))
        case .unregister(_, let reason):
            try await gateway.unregister(
                call.partnerInternalMerchantIdentifier, domainNames: domainNames.sorted(), reason: reason)
            return GatewayReceipt(anotherAttemptMayArrive: false)
        }
    }

    /// Handles the failure of a call.
    ///
    /// If Apple may have performed the call, this method reads Apple's record to find out. It also reads the record if
    /// Apple refused the call: Apple does not document its response to a repeated call, so the refusal may mean that
    /// Apple performed an earlier attempt.
    ///
    /// - Returns: the registration, if the call was performed after all.
    /// - Throws: `gatewayResponseNotReceived` if the outcome is unknown; another code `gateway…` if the call failed.
    private func handle(
        _ error: GatewayError, of call: RegistrationCall, for request: Request
    ) async throws -> Registration {
        let isUncertain = error.mayHaveActed
        var appleRecord: AppleRecord?
        if isUncertain || error.kind == .refused {
            appleRecord = try? await readAppleRecord(of: call.partnerInternalMerchantIdentifier)
            if let appleRecord, call.content.isDone(in: appleRecord.details) {
                // One of the attempts without a response may be the one that succeeded. The others may still reach
                // Apple.
                return try await closeCall(
                    call, .done, anotherAttemptMayArrive: error.uncertainAttempts > 1,
                    finding:
                        "Apple's record shows the result of the call, although the call failed with \(error.kind.rawValue): \(error.finding)",
                    appleRecord: appleRecord, for: request)
            }
        }
        guard isUncertain else {
            _ = try await closeCall(
                call, .refused, finding: "\(error.kind.rawValue): \(error.finding)", appleRecord: appleRecord,
                for: request)
            throw MerchantError(error)
        }
        if let appleRecord {
            try await storeAppleRecord(appleRecord, of: call.partnerInternalMerchantIdentifier, for: request)
        }
        throw outcomeUnknown(of: call, .gatewayResponseNotReceived, after: error)
    }

    /// Closes a call: stores its outcome, and the desired state and Apple's record as they are after the call.
    ///
    /// - Parameters:
    ///   - finding: how the daemon knows the outcome, for the audit.
    ///   - anotherAttemptMayArrive: whether another attempt of a successful call may still reach Apple. The outcome
    ///     `repeated` is then stored, so that ``checkConflicts(of:for:in:)`` finds the call.
    ///   - appleRecord: Apple's record, if it was read; nil to derive the record from the outcome.
    private func closeCall(
        _ call: RegistrationCall, _ outcome: RegistrationCall.Outcome, anotherAttemptMayArrive: Bool = false,
        finding: String?, appleRecord: AppleRecord?, for request: Request
    ) async throws -> Registration {
        let now = clock.now
        return try await records.write { transaction in
            guard let before = try transaction.registration(call.partnerInternalMerchantIdentifier) else {
                throw MerchantError(.internalError, "\(call.title) is stored, but its registration is not")
            }
            var after = before
            if outcome == .done { after.apply(call.content, at: now) }
            if let appleRecord {
                after.appleRecord = appleRecord
            } else if outcome == .done, let expected = call.content.applied(to: before.appleRecord, at: now) {
                after.appleRecord = expected
            }
            try transaction.update(after)
            try transaction.close(call, anotherAttemptMayArrive ? .repeated : outcome, finding: finding, at: now)
            try transaction.append(
                request.auditEntry(
                    outcome == .done ? .registrationChanged : .registrationCallFailed, at: now,
                    merchant: after.merchantIdentifier, before: before.summary,
                    after: outcome == .done ? after.summary : "\(call.title): \(outcome.rawValue)", reason: finding))
            try transaction.auditDrift(from: before, to: after, for: request, at: now)
            if outcome == .done {
                try request.idempotency.remember(
                    call.partnerInternalMerchantIdentifier.rawValue, at: confirmedTime.reading(), in: transaction)
            }
            return after
        }
    }

    /// The error for a request that a late attempt of an earlier call could undo.
    private func lateAttemptConflict(with call: RegistrationCall) -> MerchantError {
        let (latest, seconds) = latestArrival(of: call)
        return MerchantError(
            .registrationConflict,
            "an attempt of \(call.title) (\(call.content.summary.prefix(200))) received no response and could still reach Apple, which would undo this request; repeat the request after \(latest)",
            retryAfter: seconds)
    }

    /// The time after which a call can no longer reach Apple, so that Apple's record shows the call's outcome; and the
    /// seconds until then.
    private func latestArrival(of call: RegistrationCall) -> (at: Timestamp, seconds: Int) {
        let latest = call.openedAt.adding(Self.latestArrivalDelay)
        return (latest, Int(max(1, (latest.millisecondsSince1970 - clock.now.millisecondsSince1970 + 999) / 1000)))
    }

    /// The error for a call whose outcome is unknown.
    ///
    /// - Parameter error: why the call received no response; nil if the call was made by an earlier request.
    func outcomeUnknown(
        of call: RegistrationCall, _ code: MerchantError.Code, after error: GatewayError? = nil
    ) -> MerchantError {
        let (latest, seconds) = latestArrival(of: call)
        let cause = error.map { "\($0.kind.rawValue): \($0.finding); " } ?? ""
        return MerchantError(
            code,
            "\(cause)the outcome of \(call.title) (\(call.content.summary.prefix(200))) is unknown: the daemon asks Apple; the outcome is known when Apple first responds after \(latest), or earlier if the call succeeded. Until then, it is safe to repeat the request that made the call",
            retryAfter: seconds)
    }
}
