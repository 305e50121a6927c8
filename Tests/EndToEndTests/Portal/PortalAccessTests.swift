import Foundation
import MerchantTestSupport
import Testing

/// Which callers the portal admits, checked over TLS with every kind of caller.
///
/// The script starts its own daemon, because some checks restart the daemon with other settings.
@Suite(.tags(.slow), .skippedInQuickRuns, .enabled(if: Installation.hasPythonSQLite, "python3 is not installed"))
struct PortalAccessTests {
    private static let repository = URL(filePath: #filePath).appending(path: "../../../..").standardized.path

    /// Runs one check of the script.
    private func run(
        _ check: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let installation = try Installation()
        let script = try #require(
            Bundle.module.path(
                forResource: "portal_access", ofType: "py", inDirectory: "Scripts/portal_access"))
        let outcome = try Installation.run(
            [
                "timeout", "600", "python3", "-B", script, check, Installation.programs, installation.directory,
                Self.repository,
            ] + arguments)
        // An empty output means that the script itself failed.
        let report = try outcome.json()
        let failures = report["failures"] as? [String] ?? []
        #expect(
            outcome.status == 0 && failures.isEmpty,
            "\(failures.joined(separator: "\n")) \(outcome.error)\n\(installation.log.suffix(4000))",
            sourceLocation: sourceLocation)
        #expect((report["cases"] as? Int ?? 0) >= 10, "\(outcome.output)", sourceLocation: sourceLocation)
    }

    @Test func `each route of the portal admits exactly the callers that the tables list`() throws {
        try run("routes")
    }

    @Test func `a session of an operator has only the permits that the operator has now`() throws {
        try run("operators")
    }

    @Test
    func `a reload changes what the open session of an operator may see, and the certificate of new connections`()
        throws
    {
        try run("reload")
    }

    @Test func `requests for another merchant's records get the same responses as for records that do not exist`()
        throws
    {
        try run("others")
    }

    @Test
    func `10,000 random requests of callers outside their scope get nothing and leave only audit records`() throws {
        try run("random", "10000")
    }

    @Test func `a form is accepted only from a page of its session, and has an effect once`() throws {
        try run("forms")
    }

    @Test func `the page of an error keeps the navigation of the session`() throws { try run("errors") }

    @Test func `one of 20 simultaneous uses of an invitation begins a session, and guessing links is limited`() throws {
        try run("once")
    }

    @Test func `a login of an operator begins one session, within 60 seconds`() throws {
        try run("login")
    }
}
