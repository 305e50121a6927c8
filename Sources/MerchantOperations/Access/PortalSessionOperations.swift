package import MerchantCore
package import Vocabulary

/// Begins, resumes and ends the sessions of people at the portal: of people at merchants, who use an invitation, and of
/// operators, who run `merchantkeyctl console`.
package struct PortalSessionOperations: Sendable {
    package typealias Records = Transactions<
        any PortalSessionReading & InvitationReading & MerchantReading,
        any PortalSessionWriting & InvitationWriting & MerchantReading & ChangeRecording
    >

    /// A second press of the sign-in button within this time gets the session that the first press began.
    package static let repeatLimit: Duration = .seconds(60)

    let records: Records
    /// Sessions expire by the later of the confirmed time and the machine's clock, so that a clock that was set back
    /// does not make an expired session valid again.
    let confirmedTime: ConfirmedTime
    private let throttle = UseThrottle()

    package init(records: Records, confirmedTime: ConfirmedTime) {
        self.records = records
        self.confirmedTime = confirmedTime
    }

    /// The state of an invitation, for the page that its link opens. Changes nothing, because mail scanners open links
    /// too.
    ///
    /// - Parameter text: the text of the link's secret.
    package func invitationState(_ text: String) async throws -> InvitationState {
        guard let secret = PortalSecret(text: text, kind: .invitation) else { return .unknown }
        let now = confirmedTime.reading().latest
        return try await records.read { try $0.state(of: secret, at: now) }
    }

    /// Marks an invitation as used and begins a session.
    ///
    /// - Parameters:
    ///   - text: the text of the link's secret.
    ///   - browser: the value of a cookie that only this browser sends. ``secretOfSession(begunBy:_:in:)`` needs this
    ///     value to find the session.
    ///   - address: the client's address, for the audit.
    /// - Throws: `unauthorized` unless the invitation is open; ``invitationState(_:)`` says why it is not.
    package func begin(
        invitation text: String, in browser: String? = nil, address: String, requestId: String
    ) async throws -> (session: PortalSession, secret: PortalSecret) {
        guard let secret = PortalSecret(text: text, kind: .invitation) else { throw InvitationState.unknown.refusal }
        let time = confirmedTime.reading()
        let now = time.latest
        let sessionSecret = PortalSecret.session(begunBy: secret, in: browser)
        let session: PortalSession = try await records.write { transaction in
            let state = try transaction.state(of: secret, at: now)
            guard case .open(var invitation) = state else { throw state.refusal }
            invitation.usedAt = now
            try transaction.update(invitation)
            let session = PortalSession(
                secret: sessionSecret.stored,
                holder: .invitation(invitation.identifier, invitation.merchantIdentifier), createdAt: now,
                lastSeenAt: now)
            try transaction.insert(session)
            try transaction.append(
                Request(caller: .remote(session.caller(from: address)), requestId: requestId).auditEntry(
                    .invitationUsed, at: time.wall, merchant: invitation.merchantIdentifier,
                    after: "invitation=\(invitation.identifier)", reason: invitation.note))
            return session
        }
        return (session, sessionSecret)
    }

    /// Creates a login for an operator, valid for ``OperatorLogin/life``.
    ///
    /// An Idempotency-Key has no effect: a repeat creates another login, and a login whose response was not received
    /// expires unused.
    ///
    /// - Parameter groups: all groups of the caller's process, with the primary group.
    package func createLogin(
        uid: UInt32, groups: Set<UInt32>, for request: Request
    ) async throws -> (secret: PortalSecret, expiresAt: Timestamp) {
        let time = confirmedTime.reading()
        let secret = PortalSecret(generating: .login)
        let login = OperatorLogin(
            secret: secret.stored, uid: uid, groups: groups, createdAt: time.latest,
            expiresAt: time.latest.adding(OperatorLogin.life))
        try await records.write { transaction in
            try transaction.insert(login)
            try transaction.append(
                request.auditEntry(
                    .operatorLoginCreated, at: time.wall, after: "\(login.title) expiresAt=\(login.expiresAt)"))
        }
        return (secret, login.expiresAt)
    }

    /// Whether a login can begin a session, for the page that its URL opens. Changes nothing.
    ///
    /// - Parameter text: the text of the URL's secret.
    package func isLoginOpen(_ text: String) async throws -> Bool {
        guard let secret = PortalSecret(text: text, kind: .login) else { return false }
        let now = confirmedTime.reading().latest
        return try await records.read { try $0.openLogin(secret, at: now) != nil }
    }

    /// Marks an operator's login as used and begins a session.
    ///
    /// - Throws: `unauthorized` if the login is unknown, used or expired.
    package func begin(
        login text: String, in browser: String? = nil, address: String, requestId: String
    ) async throws -> (session: PortalSession, secret: PortalSecret) {
        guard let secret = PortalSecret(text: text, kind: .login) else { throw Self.loginRefused }
        let time = confirmedTime.reading()
        let now = time.latest
        let sessionSecret = PortalSecret.session(begunBy: secret, in: browser)
        let session: PortalSession = try await records.write { transaction in
            guard var login = try transaction.openLogin(secret, at: now) else { throw Self.loginRefused }
            login.usedAt = now
            try transaction.update(login)
            let session = PortalSession(
                secret: sessionSecret.stored, holder: .operating(uid: login.uid, groups: login.groups),
                createdAt: now, lastSeenAt: now)
            try transaction.insert(session)
            try transaction.append(
                Request(caller: .remote(session.caller(from: address)), requestId: requestId).auditEntry(
                    .operatorLoginUsed, at: time.wall, after: login.title))
            return session
        }
        return (session, sessionSecret)
    }

    /// The secret of the session that this browser has just begun with a link, for a person who pressed the button
    /// twice: the browser may have discarded the response to the first press.
    ///
    /// - Parameters:
    ///   - text: the text of the link's secret.
    ///   - kind: `invitation` or `login`.
    /// - Returns: nil if the browser began no session with the link, or began it longer than ``repeatLimit`` ago, or if
    ///   the session has ended.
    package func secretOfSession(
        begunBy text: String, _ kind: PortalSecret.Kind, in browser: String
    ) async throws -> PortalSecret? {
        guard let link = PortalSecret(text: text, kind: kind) else { return nil }
        let secret = PortalSecret.session(begunBy: link, in: browser)
        let now = confirmedTime.reading().latest
        let identifier = secret.identifier
        guard let session = try await records.read({ try $0.portalSession(secretIdentifier: identifier) }),
            session.secret.matches(secret), session.isValid(at: now),
            now < session.createdAt.adding(Self.repeatLimit)
        else { return nil }
        return secret
    }

    /// The session that has this secret.
    ///
    /// - Parameters:
    ///   - text: the text of the session's secret.
    ///   - extending: whether the session stays valid for ``PortalSession/idleLimit`` from now; the time is accurate to
    ///     a minute. False for a request that a page sends by itself: otherwise an open page would keep its session
    ///     alive without a person.
    /// - Returns: nil if the session is unknown or has ended.
    package func resume(_ text: String, extending: Bool) async throws -> ResumedSession? {
        guard let secret = PortalSecret(text: text, kind: .session) else { return nil }
        let now = confirmedTime.reading().latest
        let identifier = secret.identifier
        guard let session = try await records.read({ try $0.portalSession(secretIdentifier: identifier) }),
            session.secret.matches(secret), session.isValid(at: now)
        else { return nil }
        if extending { await recordRequest(of: session, at: now) }
        return ResumedSession(session)
    }

    /// Stores the time of the request, unless a time was stored within ``UseThrottle/interval``. Ignores a failure, so
    /// that people can read their pages while the database cannot be written.
    private func recordRequest(of session: PortalSession, at now: Timestamp) async {
        let identifier = session.secret.identifier
        guard UseThrottle.isDue(session.lastSeenAt, at: now), throttle.claim(identifier, at: now) else { return }
        try? await records.write { transaction in
            guard var stored = try transaction.portalSession(secretIdentifier: identifier), stored.lastSeenAt < now
            else { return }
            stored.lastSeenAt = now
            try transaction.update(stored)
        }
    }

    private static let loginRefused = MerchantError(
        .unauthorized,
        "the login is unknown, used or expired: run 'merchantkeyctl console' again, and open its URL within \(OperatorLogin.life.components.seconds) seconds"
    )
}

extension OperatorLogin {
    /// The kind and the identifier of the login, which are not secret.
    fileprivate var title: String { "\(PortalSecret.Kind.login.rawValue)\(secret.identifier)" }
}

extension PortalSessionReading {
    /// The login that has this secret; nil if it is unknown, used or expired.
    fileprivate func openLogin(_ secret: PortalSecret, at now: Timestamp) throws -> OperatorLogin? {
        guard let login = try operatorLogin(secretIdentifier: secret.identifier), login.secret.matches(secret),
            login.usedAt == nil, now < login.expiresAt
        else { return nil }
        return login
    }
}
