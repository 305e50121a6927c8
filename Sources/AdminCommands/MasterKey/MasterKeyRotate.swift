import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MasterKeyRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace the master key and the data key, and seal every private key again.",
        discussion: """
            The data key seals (encrypts) the private keys, and the master key seals the data key. Rotate both after a \
            suspected leak, and when a person who knew the master key leaves. The daemon serves requests during the \
            rotation and continues the rotation after a restart. If a rotation is already in progress, 'rotate' waits \
            for it and does not start another one. At the end, the daemon erases the old data key. If the daemon \
            created the new master key, it also erases the file with the old master key. Then store copies of the new \
            master key in two other places, and keep your own copies of the old master key until no backup needs it. \
            If the daemon reads its master key from a credential or a command, it cannot write a new one. In this \
            case, before you rotate, install the new master key yourself, name the old master key in the setting \
            master-key.previous, and restart the daemon.
            """,
        examples: [
            "master-key rotate --dry-run",
            "master-key rotate --data-key-only --yes",
        ])

    @Flag(help: "Keep the master key, and replace only the data key.")
    var dataKeyOnly = false

    @Flag(help: "Do not wait for the end of the rotation; 'master-key status' shows the progress.")
    var noWait = false

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let printer = global.printer
        try await global.withAdminClient { admin in
            if confirmation.dryRun || !confirmation.yes {
                let plan = try await admin.rotateMasterKey(dataKeyOnly: dataKeyOnly, dryRun: true)
                if confirmation.dryRun { return try printer.show(plan.json) { plan.document.blocks } }
                for step in plan.document.steps { printer.alwaysNote("would \(step)") }
                try confirmation.confirm("rotate the \(dataKeyOnly ? "data key" : "master key")")
            }
            let started = try await admin.rotateMasterKey(dataKeyOnly: dataKeyOnly, dryRun: false).document
            if started.joins {
                printer.note("a rotation was already in progress, so this command did not start a new one")
            }
            let last = noWait ? try await admin.masterKey() : try await waitForEnd(admin)
            try printer.show(last.json) { last.document.blocks }
            if last.document.rotation?.state == "finished", !dataKeyOnly {
                printer.note(
                    "store copies of the new master key in two other places, and keep the old master key: earlier backups need it"
                )
            }
        }
    }

    /// Asks the daemon for the progress of the rotation every 100 ms until the rotation has ended.
    ///
    /// - Throws: ``CommandFailure`` if the rotation is blocked.
    private func waitForEnd(_ admin: AdminClient) async throws -> Response<MasterKeyDocument> {
        var bar: ProgressBar?
        defer { bar?.clear() }
        while true {
            let response = try await admin.masterKey()
            guard let rotation = response.document.rotation, rotation.state != "finished" else { return response }
            if let blocker = rotation.blockedBy {
                throw CommandFailure(
                    .failed,
                    "the rotation is blocked after \(rotation.done) of \(rotation.total.counted("key")): \(blocker). The daemon tries again by itself; see 'master-key status'"
                )
            }
            var shown = bar ?? ProgressBar(total: rotation.total, isQuiet: global.quiet)
            shown.show(.init(finished: rotation.done))
            bar = shown
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

extension RotationPlanDocument {
    fileprivate var blocks: [Block] {
        [.table(headings: ["STEP"], rows: steps.map { [Cell($0)] })]
    }
}
