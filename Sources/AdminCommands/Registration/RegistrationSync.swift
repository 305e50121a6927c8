import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import StrictJSON
import WireAPI

struct RegistrationSync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Compare every registration with Apple's record, and mend what differs.",
        discussion: """
            Shows what differs: a domain that Apple lacks or has besides, another name or encryptTo, a registration that \
            is gone. With --repair what is wanted is registered again, and what is not wanted is unregistered; without \
            it nothing changes at Apple. Exit status 1 where something could not be compared or mended.
            """)

    @Flag(help: "Mend what differs.")
    var repair = false

    @OptionGroup var global: GlobalOptions

    /// Enough for a bar that moves, few enough for Apple to be slow.
    private static let stretch = 100
    /// How often Apple may have us wait without getting on.
    private static let mostWaits = 10

    func run() async throws {
        try await global.withAdmin { admin in
            var result = SyncResult(repair: repair)
            let total = try? await admin.status().document.registrations
            var bar = ProgressBar(total: total)
            defer { bar.clear() }
            var cursor: String?
            var waits = 0
            repeat {
                let stretch: Answer<SyncDocument>
                do throws(ClientError) {
                    stretch = try await admin.syncRegistrations(
                        SyncRequest(repair: repair, limit: Self.stretch, cursor: cursor))
                } catch {
                    guard case .refused(let refusal) = error, let seconds = refusal.retryAfter, waits < Self.mostWaits,
                        result.compared > 0
                    else { throw error }
                    waits += 1
                    try await Task.sleep(for: .seconds(min(seconds, 300)))
                    continue
                }
                try result.add(stretch)
                bar.show(.init(finished: result.compared))
                cursor = stretch.document.nextCursor
                if let halted = stretch.document.halted {
                    guard let seconds = halted.retryAfter, waits < Self.mostWaits else { break }
                    waits += 1
                    try await Task.sleep(for: .seconds(min(seconds, 300)))
                } else {
                    waits = 0
                    result.halted = nil
                }
            } while cursor != nil
            bar.clear()
            try result.show(global.printer)
        }
    }
}

/// The stretches of one sync, put together.
private struct SyncResult {
    let repair: Bool
    var compared = 0
    var findings: [SyncDocument.Finding] = []
    var halted: FailureDocument?
    /// As the daemon wrote them.
    private var json: [JSONValue] = []

    init(repair: Bool) { self.repair = repair }

    mutating func add(_ stretch: Answer<SyncDocument>) throws {
        compared += stretch.document.compared
        findings += stretch.document.findings
        halted = stretch.document.halted
        if case .object(let object) = try Printer.parse(stretch.json), case .array(let some) = object["findings"] {
            json += some
        }
    }

    func show(_ printer: Printer) throws {
        switch printer.form {
        case .json:
            printer.json(
                .object(
                    JSONObject(members: [
                        .init(name: "compared", value: .number(String(compared))),
                        .init(name: "findings", value: .array(json)),
                        .init(name: "repair", value: .bool(repair)),
                    ])))
        case .table:
            if !findings.isEmpty { printer.show([SyncDocument.Finding.table(findings)]) }
        }
        let drifting = findings.count { !$0.drift.isEmpty }
        let mended = findings.count { $0.mended == true }
        printer.remark(
            "compared \(compared) registrations: \(drifting) differ\(drifting == 1 ? "s" : "")"
                + (repair ? ", \(mended) mended" : ""))
        if let halted { throw CommandFailure(.refused, "stopped: \(halted.code): \(halted.detail)") }
        let failed = findings.count { $0.failure != nil || $0.mended == false }
        guard failed == 0 else {
            throw CommandFailure(.refused, "\(failed) registrations could not be compared or mended")
        }
    }
}
