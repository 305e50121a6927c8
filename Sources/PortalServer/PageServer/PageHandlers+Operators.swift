import HTTPKit
import MerchantCore
import MerchantOperations
import ServerKit
import Vocabulary
import WireAPI

extension PageRoutes {
    static let operators: [PageRoute] = [
        .get("/fleet", .operators, PageHandlers.showFleet),
        .get("/fleet/search", .operators, query: ["q"], PageHandlers.search),
        .get("/fleet/merchants/{merchantIdentifier}", .operators, PageHandlers.showMerchant),
        .get(
            "/fleet/invitations", .operators, query: ["merchant", "after", "revoked"], PageHandlers.listInvitations),
        .post("/fleet/invitations", .operators, PageHandlers.createInvitation),
        .get("/fleet/invitations/new", .operators, query: ["merchant"], PageHandlers.newInvitation),
        .get("/fleet/invitations/{invitationId}", .operators, PageHandlers.showNewInvitation),
        .get("/fleet/invitations/{invitationId}/revoke", .operators, PageHandlers.confirmRevocation),
        .post("/fleet/invitations/{invitationId}/revoke", .operators, PageHandlers.revokeInvitation),
    ]
}

extension PageHandlers {
    private static let maximumMerchantsBelowTarget = 20
    private static let invitationsPerPage = 50

    func showFleet(_ call: PageCall) async throws -> PageReply {
        let overview = try await operations.fleet.overview()
        let counts = overview.status.counts
        let below = try await operations.fleet.merchantsBelowTarget(after: nil, limit: Self.maximumMerchantsBelowTarget)
        return .page(
            FleetPage(
                counts: FleetPage.Counts(
                    merchants: counts.merchants,
                    activeKeyPairs: counts.keyPairs.filter { $0.key.isActive }.values.reduce(0, +),
                    merchantsBelowTarget: counts.merchantsBelowTarget, expiredCertificates: overview.expired.total),
                findings: overview.status.findings,
                weeks: overview.weeks.map { PageWeek(begin: $0.begins, count: $0.expiring.total) },
                rollsByState: overview.rolls.byState, rollsByParty: overview.rolls.byParty,
                belowTarget: below.items.map(\.merchant)))
    }

    func search(_ call: PageCall) async throws -> PageReply {
        let query = call.query["q"] ?? ""
        guard query.count >= SearchPage.shortestQuery else {
            return .page(SearchPage(query: query, results: nil, hasMore: false))
        }
        let found = try await operations.fleet.search(query)
        let results = found.hits.compactMap { hit -> SearchPage.Result? in
            guard let merchant = hit.merchantIdentifier else { return nil }
            let match: SearchPage.Result.Match =
                switch hit.match {
                case .identifier: .identifier
                case .name: .name
                case .key(let hash, _): .key(hash)
                case .domain(let domain, _): .domain(domain)
                }
            return SearchPage.Result(merchant: merchant, name: hit.merchantName, match: match)
        }
        return .page(SearchPage(query: query, results: results, hasMore: found.hasMore))
    }

    func showMerchant(_ call: PageCall) async throws -> PageReply {
        guard let merchant = MerchantIdentifier(text: call.parameter) else { throw MerchantError.noPage }
        let found = try await operations.fleet.merchant(merchant)
        var records = FleetMerchantPage.Records()
        records.keys = found.keys.map { PageKey($0) }
        records.certificates = found.keys.flatMap { view in
            view.certificates.map { (key: PageKey(view), certificate: $0) }
        }
        records.rolls = found.rolls.items.map { PageRoll($0) }
        records.registrations = found.registrations.items.map { PageRegistration($0) }
        records.events = found.events.items
        records.audit = found.audit.items
        return .page(
            FleetMerchantPage(
                found.merchant.merchant, activeKeyPairs: found.merchant.activeKeyPairs, records))
    }

    // MARK: Invitations

    func listInvitations(_ call: PageCall) async throws -> PageReply {
        let merchant = call.query["merchant"].flatMap { MerchantIdentifier(text: $0) }
        let cursor = call.query["after"].flatMap { InvitationIdentifier(text: $0) }
        let found = try await operations.invitations.list(
            of: merchant, after: cursor, limit: Self.invitationsPerPage + 1)
        return .page(
            InvitationsPage(
                Array(found.prefix(Self.invitationsPerPage)), of: merchant,
                hasMore: found.count > Self.invitationsPerPage, wasRevoked: call.query["revoked"] != nil))
    }

    func newInvitation(_ call: PageCall) async throws -> PageReply {
        .page(NewInvitationPage(NewInvitationPage.Input(merchant: call.query["merchant"] ?? "")))
    }

    func createInvitation(_ call: PageCall) async throws -> PageReply {
        try call.peer.requireEveryMerchant(.onboard)
        let days = Int(call.form.text("days")) ?? 0
        let input = NewInvitationPage.Input(
            merchant: call.form.text("merchant"), days: days, note: call.form.text("note"))
        guard let merchant = MerchantIdentifier(text: input.merchant) else {
            return .page(NewInvitationPage(input, problem: .merchantInvalid))
        }
        guard NewInvitationPage.durations.contains(days) else {
            return .page(NewInvitationPage(input, problem: .daysInvalid))
        }
        guard input.note.utf8.count <= Invitation.longestNote else {
            return .page(NewInvitationPage(input, problem: .noteInvalid))
        }
        guard let url = publicURL() else { throw MerchantError(.overloaded, "the portal is starting") }
        let session = call.session?.identifier ?? ""
        let formKey = call.form["idempotencyKey"] ?? ""
        do {
            let (invitation, secret) = try await operations.invitations.create(
                for: merchant, expiresAt: call.now.adding(.seconds(days * 86_400)),
                note: input.note.isEmpty ? nil : input.note, for: call.requestWithFormKey())
            newInvitationLinks.add(
                url + Paths.invitationPage(secret.text), of: invitation.identifier, session: session, formKey: formKey,
                input: input, at: call.now)
            return .redirect(PortalPaths.createdInvitation(invitation.identifier))
        } catch let error as MerchantError where error.code == .idempotencyKeyReused {
            // A double click sends the form twice, and the browser shows only the second response.
            let created = newInvitationLinks.invitation(
                session: session, formKey: formKey, input: input, at: call.now)
            if let created { return .redirect(PortalPaths.createdInvitation(created)) }
            return .page(NewInvitationPage(input, problem: .sentTwice))
        } catch let error as MerchantError where error.code != .internalError {
            return .page(NewInvitationPage(input, problem: NewInvitationPage.Problem(error.code)))
        }
    }

    /// Shows the link of an invitation to the session that has just created it, and only once.
    func showNewInvitation(_ call: PageCall) async throws -> PageReply {
        let identifier = try Self.invitation(call)
        let invitation = try await operations.invitations.invitation(identifier)
        let url =
            call.isHead
            ? nil : newInvitationLinks.take(identifier, session: call.session?.identifier ?? "", at: call.now)
        return .page(InvitationCreatedPage(invitation, url: url))
    }

    func confirmRevocation(_ call: PageCall) async throws -> PageReply {
        .page(InvitationRevocationPage(try await operations.invitations.invitation(try Self.invitation(call))))
    }

    func revokeInvitation(_ call: PageCall) async throws -> PageReply {
        try call.peer.requireEveryMerchant(.onboard)
        _ = try await operations.invitations.revoke(try Self.invitation(call), for: call.request)
        return .redirect("\(PortalPaths.invitations)?revoked=1")
    }

    private static func invitation(_ call: PageCall) throws(MerchantError) -> InvitationIdentifier {
        guard let identifier = InvitationIdentifier(text: call.parameter) else { throw .noPage }
        return identifier
    }
}
