import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MasterKeyRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Seal every private key anew, under a fresh master key and data key.",
        discussion: """
            For after a suspected leak, and when a custodian leaves. The daemon serves meanwhile and goes on by itself after \
            a restart; a second rotate joins the one under way. At the end the old master key and everything it sealed are \
            erased. Save the new master key elsewhere then, and keep copies of the old one until no backup needs it. Where \
            the daemon cannot write the master key (a credential, a command), put the new one there first, name the old one \
            in master-key.previous, and restart.
            """)

    @Flag(help: "Keep the master key; seal everything under a fresh data key.")
    var dataKeyOnly = false

    @Flag(help: "Do not wait for its end; 'master-key status' tells of it.")
    var noWait = false

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let printer = global.printer
        try await global.withAdmin { admin in
            if withdrawal.dryRun || !withdrawal.yes {
                let plan = try await admin.rotateMasterKey(dataKeyOnly: dataKeyOnly, dryRun: true)
                if withdrawal.dryRun { return try printer.show(plan.json) { plan.document.blocks } }
                for step in plan.document.steps { printer.remark("would \(step)") }
                try withdrawal.confirm("rotate the \(dataKeyOnly ? "data key" : "master key")", printer)
            }
            let begun = try await admin.rotateMasterKey(dataKeyOnly: dataKeyOnly, dryRun: false).document
            if begun.joins { printer.remark("a rotation is under way: it goes on") }
            let last = noWait ? try await admin.masterKey() : try await end(admin)
            try printer.show(last.json) { last.document.blocks }
            if last.document.rotation?.state == "finished", !dataKeyOnly {
                printer.remark("save the new master key elsewhere; backups made until now need the old one")
            }
        }
    }

    /// Asks until it has ended.
    ///
    /// - Throws: ``CommandFailure`` where it cannot go on by itself.
    private func end(_ admin: AdminClient) async throws -> MerchantKeyClient.Answer<MasterKeyDocument> {
        var bar: ProgressBar?
        defer { bar?.clear() }
        while true {
            let answer = try await admin.masterKey()
            guard let rotation = answer.document.rotation, rotation.state != "finished" else { return answer }
            if let obstacle = rotation.obstacle {
                throw CommandFailure(
                    .refused,
                    "the rotation has sealed \(rotation.done) of \(rotation.total) anew; \(obstacle). The daemon tries again; 'master-key status' tells"
                )
            }
            var shown = bar ?? ProgressBar(total: rotation.total)
            shown.show(.init(finished: rotation.done))
            bar = shown
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

extension RotationPlanDocument {
    fileprivate var blocks: [Block] {
        [.table(headings: ["WOULD"], rows: steps.map { [Cell($0)] })]
    }
}
