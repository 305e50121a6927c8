import ArgumentParser
import MerchantKeyClient
import WireAPI

struct Console: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Print a link that signs you in to the portal's pages for operators, or sign users out of the pages.",
        discussion: """
            The link is valid for 60 seconds and for one sign-in. The pages show the state of all merchants. You need \
            the permit 'read' for all merchants in the setting 'callers'. To sign other users out, for example after a \
            laptop was stolen, you also need the permit 'administer'.
            """,
        examples: [
            "console",
            "console --end-sessions --uid 1000",
        ])

    @Flag(
        help: ArgumentHelp(
            "End your sessions at once, instead of printing a link.",
            discussion: "Links that were printed earlier and are not used yet are revoked too."))
    var endSessions = false

    @Option(help: ArgumentHelp("End the sessions of this user instead of yours.", valueName: "uid"))
    var uid: UInt32?

    @Flag(help: "End the sessions of all users.")
    var allUsers = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard endSessions || (uid == nil && !allUsers) else {
            throw ValidationError("--uid and --all-users need --end-sessions")
        }
        guard uid == nil || !allUsers else {
            throw ValidationError("--uid can't be combined with --all-users; omit one of the two")
        }
    }

    func run() async throws {
        try await global.withAdminClient { admin in
            if endSessions { try await end(admin) } else { try await printLink(admin) }
        }
    }

    private func printLink(_ admin: AdminClient) async throws {
        let response = try await admin.createOperatorLogin()
        try global.printer.show(response.json) { [.text(response.document.url)] }
        guard global.output == .table else { return }
        global.printer.note("open this link within 60 seconds; it can be used for one sign-in")
    }

    private func end(_ admin: AdminClient) async throws {
        let operators = allUsers ? .allUsers : uid.map { AdminClient.OperatorSelection.user(uid: $0) } ?? .caller
        let response = try await admin.endOperatorSessions(of: operators)
        try global.printer.show(response.json) { response.document.blocks }
        guard global.output == .table, operators == .caller else { return }
        global.printer.note(
            "only your own sessions and links ended; use --uid or --all-users to end those of other users")
    }
}

extension EndedOperatorSessionsDocument {
    fileprivate var blocks: [Block] {
        [.record([("sessions ended", Cell(sessionsEnded)), ("unused links revoked", Cell(linksEnded))])]
    }
}
