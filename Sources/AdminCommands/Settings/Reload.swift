import ArgumentParser
import MerchantKeyClient
import WireAPI

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Make the daemon apply changed settings without a restart.",
        discussion: """
            The daemon reads the settings file again, and all files that it names. It applies callers, log.level, \
            log.requests, the portal's TLS files, and the settings under events, trust, backup, roll, sessions and \
            provisioning. It applies all of these settings at once, or none if one of them has a fault. Permits also \
            change for open connections. The command prints which settings have changed, with the previous and the new \
            values, and which changed settings need a restart.
            """,
        examples: [
            "reload --dry-run",
            "reload",
        ])

    @Flag(help: "Only check the settings, and print what would change.")
    var dryRun = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let printer = global.printer
        try await global.withAdminClient { admin in
            let response = try await admin.reload(dryRun: dryRun)
            printer.warn(response.document.warnings)
            try printer.show(response.json) { response.document.blocks }
            if response.document.isEmpty { printer.note("no setting has changed") }
        }
    }
}

extension ReloadDocument {
    fileprivate var isEmpty: Bool { changed.isEmpty && needsRestart.isEmpty }

    fileprivate var blocks: [Block] {
        guard !isEmpty else { return [] }
        let result = dryRun ? "would change" : "changed"
        let applied = changed.flatMap { name -> [[Cell]] in
            let values = changes.filter { $0.name == name || $0.name.hasPrefix("\(name).") }
            guard !values.isEmpty else { return [[Cell(name), Cell(result), "-", "-"]] }
            return values.map { [Cell($0.name), Cell(result), Cell($0.before), Cell($0.after)] }
        }
        let pending = needsRestart.map { setting -> [Cell] in
            [
                Cell(setting.name), Cell("needs a restart", .warning), Cell(setting.inForce),
                Cell(setting.configured),
            ]
        }
        return [.table(headings: ["SETTING", "RESULT", "BEFORE", "IN THE FILE"], rows: applied + pending)]
    }
}
