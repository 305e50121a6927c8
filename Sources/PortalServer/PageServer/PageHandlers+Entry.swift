import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension PageRoutes {
    /// The pages with which a session begins and ends, and the files that all pages load.
    static let entry: [PageRoute] = [
        .get("/", .everyone, query: ["done", "state"], PageHandlers.home),
        .post("/sign-out", .everyone, PageHandlers.signOut),
        .get("/invitations/{secret}", .everyone, PageHandlers.showInvitation),
        .post("/invitations/{secret}", .everyone, PageHandlers.useInvitation),
        .get("/login/{secret}", .everyone, PageHandlers.showLogin),
        .post("/login/{secret}", .everyone, PageHandlers.useLogin),
        .get("/assets/{file}", .everyone, PageHandlers.asset),
    ]
}

extension PageHandlers {
    func home(_ call: PageCall) async throws -> PageReply {
        switch call.session?.holder {
        case nil: .page(SignInPage())
        case .operating?: .redirect(PortalPaths.fleet)
        case .invitation?: try await merchantHome(call)
        }
    }

    func signOut(_ call: PageCall) async throws -> PageReply {
        if let secret = call.sessionSecret { try await operations.sessions.end(secret) }
        return .pageEndingSession(SignedOutPage())
    }

    /// Does not use the invitation, because mail programs open links before a person does. The invitation is used when
    /// the person presses the button on the page.
    func showInvitation(_ call: PageCall) async throws -> PageReply {
        let state = try await operations.sessions.invitationState(call.parameter)
        if case .open(let invitation) = state {
            return .page(InvitationPage(invitation, path: call.path), setCookie: Self.newBrowserCookie(call))
        }
        if case .unknown = state { try call.countFailure() }
        return .page(InvitationRefusedPage(state: state) ?? InvitationRefusedPage(.unknown))
    }

    func useInvitation(_ call: PageCall) async throws -> PageReply {
        // Read first: a request with a wrong secret must not wait for the database's writer.
        guard case .open = try await operations.sessions.invitationState(call.parameter) else {
            if let reply = try await resume(.invitation, at: PortalPaths.home, call) { return reply }
            return try await showInvitation(call)
        }
        do {
            let (_, secret) = try await operations.sessions.begin(
                invitation: call.parameter, in: call.browser, address: call.address, requestId: call.requestId)
            try await endFormerSession(call)
            return .redirect(PortalPaths.home, setCookie: SessionCookie.newSetCookieValue(secret))
        } catch let error as MerchantError where error.code == .unauthorized {
            if let reply = try await resume(.invitation, at: PortalPaths.home, call) { return reply }
            return try await showInvitation(call)
        }
    }

    /// If the button was already pressed in the same browser, returns a redirect that sets the cookie of the session
    /// that the first press began; otherwise nil.
    private func resume(_ kind: PortalSecret.Kind, at path: String, _ call: PageCall) async throws -> PageReply? {
        guard let browser = call.browser,
            let secret = try await operations.sessions.secretOfSession(begunBy: call.parameter, kind, in: browser)
        else { return nil }
        return .redirect(path, setCookie: SessionCookie.newSetCookieValue(secret))
    }

    /// nil if the browser has the cookie already.
    private static func newBrowserCookie(_ call: PageCall) -> String? {
        call.browser == nil ? BrowserCookie.newSetCookieValue() : nil
    }

    func showLogin(_ call: PageCall) async throws -> PageReply {
        guard try await operations.sessions.isLoginOpen(call.parameter) else {
            try call.countFailure()
            return .page(LoginRefusedPage())
        }
        return .page(LoginPage(path: call.path), setCookie: Self.newBrowserCookie(call))
    }

    func useLogin(_ call: PageCall) async throws -> PageReply {
        guard try await operations.sessions.isLoginOpen(call.parameter) else {
            if let reply = try await resume(.login, at: PortalPaths.fleet, call) { return reply }
            return try await showLogin(call)
        }
        do {
            let (_, secret) = try await operations.sessions.begin(
                login: call.parameter, in: call.browser, address: call.address, requestId: call.requestId)
            try await endFormerSession(call)
            return .redirect(PortalPaths.fleet, setCookie: SessionCookie.newSetCookieValue(secret))
        } catch let error as MerchantError where error.code == .unauthorized {
            if let reply = try await resume(.login, at: PortalPaths.fleet, call) { return reply }
            return .page(LoginRefusedPage())
        }
    }

    /// The new session's cookie replaces the previous one in the browser, so the previous session must not stay valid.
    private func endFormerSession(_ call: PageCall) async throws {
        if let secret = call.sessionSecret { try await operations.sessions.end(secret) }
    }

    func asset(_ call: PageCall) async throws -> PageReply {
        guard let asset = PortalAsset.asset(at: call.path) else { throw MerchantError.noPage }
        return .asset(asset)
    }
}
