import Foundation
import Testing
import WireAPI

/// `reload`.
@Suite struct ReloadCommandTests {
    private static var document: ReloadDocument {
        var document = ReloadDocument(dryRun: false, changed: ["callers"])
        var pending = ReloadDocument.PendingSetting("log.format")
        pending.inForce = "logfmt"
        pending.configured = "json"
        document.needsRestart = [pending]
        var permits = ReloadDocument.ChangedValue("callers.0.permits")
        (permits.before, permits.after) = ("read", "read, administer")
        var added = ReloadDocument.ChangedValue("callers.1.uid")
        added.after = "7"
        document.changes = [permits, added]
        document.warnings = ["a directory is missing"]
        return document
    }

    @Test func `the result is a table or JSON, and warnings are on standard error`() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document) }) { program, daemon in
            let table = try await program.run(["reload", "--socket", daemon.socketPath])
            #expect(table.status == 0 && table.error == "warning: a directory is missing\n")
            #expect(table.output.contains("needs a restart  logfmt  json"), "\(table.output)")
            #expect(table.output.contains("callers.0.permits  changed          read    read, administer"))
            #expect(table.output.contains("callers.1.uid      changed          -       7"))
            #expect(daemon.requests.map(\.target) == [Paths.reload])
            let json = try await program.run([
                "reload", "--dry-run", "--output", "json", "--socket", daemon.socketPath,
            ])
            #expect(try JSONDecoder().decode(ReloadDocument.self, from: Data(json.output.utf8)) == Self.document)
        }
    }

    @Test func `invalid settings are refused, and standard error has every problem`() async throws {
        try await FakeDaemon.with({ _ in .problem(422, "settingsInvalid", "'a' is wrong; 'b' is wrong") }) {
            program, daemon in
            let refused = try await program.run(["reload", "--socket", daemon.socketPath])
            #expect(refused.status == 1 && refused.output == "")
            #expect(refused.error == "refused: settingsInvalid: 'a' is wrong; 'b' is wrong (request r-1)\n")
        }
    }
}
