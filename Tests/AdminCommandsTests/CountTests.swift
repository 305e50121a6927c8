import AdminCommands
import Foundation
import Testing
import Vocabulary
import WireAPI

/// The outputs of commands for exactly one item, which are in the singular.
@Suite struct CountTests {
    @Test func `registration import --dry-run counts 1 merchant in the singular`() async throws {
        try await FakeDaemon.with({ _ in .problem(404, "merchantNotFound", "no") }) { program, daemon in
            let file = try program.write(
                "partnerInternalMerchantIdentifier,partnerMerchantName,domainNames\nshop-1,Shop,a.example\n",
                to: "r.csv")
            let dry = try await program.run([
                "registration", "import", file, "--dry-run", "--socket", daemon.socketPath,
            ])
            #expect(dry.status == 0 && dry.error == "would register 1 merchant\n", "\(dry)")
        }
    }

    @Test func `registration sync counts 1 registration in the singular`() async throws {
        try await FakeDaemon.with({ request in
            guard request.target != "/v1/status" else { return try .json(Samples.status([])) }
            var finding = SyncDocument.Finding("shop-1")
            finding.drift = [DriftDocument("missingDomain", expected: "a.example")]
            finding.remaining = finding.drift
            var batch = SyncDocument()
            batch.compared = 1
            batch.findings = [finding]
            return try .json(batch)
        }) { program, daemon in
            let run = try await program.run(["registration", "sync", "--check", "--socket", daemon.socketPath])
            #expect(run.status == 1 && run.error.hasPrefix("compared 1 registration: 1 differs\n"), "\(run)")
            #expect(run.error.contains("1 of 1 registration differs from Apple's record"), "\(run)")
        }
    }

    @Test func `roll finish --all-quiet counts 1 roll in the singular`() async throws {
        let roll = RollDocument(
            "1", of: "merchant.a", algorithm: .ecV1, to: .init(stringLiteral: Samples.hash), startedAt: Samples.time,
            state: "quiet", since: Samples.time, waitingFor: "admin")
        try await FakeDaemon.with({ _ in try .json(Page(items: [roll], nextCursor: nil)) }) { program, daemon in
            let dry = try await program.run([
                "roll", "finish", "--all-quiet", "--dry-run", "--socket", daemon.socketPath,
            ])
            #expect(dry.status == 0 && dry.error == "would finish 1 roll and revoke its old key\n", "\(dry)")
        }
    }

    @Test func `audit verify counts 1 break in the singular`() async throws {
        var range = AuditVerificationDocument()
        range.examined = 2
        range.breakCount = 1
        range.breaks = [AuditBreakDocument(kind: "edited", sequence: 2, detail: "record 2 was changed")]
        let answer = range
        try await FakeDaemon.with({ _ in try .json(answer) }) { program, daemon in
            let run = try await program.run(["audit", "verify", "--socket", daemon.socketPath])
            #expect(run.status == 1 && run.error.contains("the audit chain is broken in 1 place (at"), "\(run)")
        }
    }

    @Test func `master-key rotate counts 1 key in the singular`() async throws {
        var rotation = MasterKeyDocument.Rotation("sealing", toDataKey: 129, startedAt: Samples.time)
        rotation.total = 1
        rotation.blockedBy = "the key is damaged"
        var masterKey = MasterKeyDocument(String(repeating: "0", count: 32), from: "file master.key", dataKey: 129)
        masterKey.rotation = rotation
        let answer = masterKey
        try await FakeDaemon.with({ request in
            try request.method == "POST" ? .json(RotationPlanDocument(answer)) : .json(answer)
        }) { program, daemon in
            let run = try await program.run(["master-key", "rotate", "--yes", "--socket", daemon.socketPath])
            #expect(run.status == 1 && run.error.contains("blocked after 0 of 1 key: the key is damaged"), "\(run)")
        }
    }

    @Test func `status --check counts 1 merchant and 1 key pair in the singular`() {
        var document = Samples.status([])
        document.merchants = 1
        document.merchantsBelowTarget = 1
        document.keyPairs = ["current": 1]
        #expect(StatusCheck(document).line == "merchantkeyd OK: 1 merchant, 1 below target, 1 active key pair")
    }

    @Test func `certificate timeline counts 1 certificate in the singular`() {
        var key = Samples.key(state: .current)
        key.notAfter = "2026-12-31T00:00:00Z"
        let timeline = ExpiryTimeline([key], now: "2026-11-21T04:53:15Z", monthCount: 25)
        #expect(timeline.svg.contains("<desc>1 certificate of an active key expires.</desc>"))
    }
}
