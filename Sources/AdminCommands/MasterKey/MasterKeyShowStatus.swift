import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MasterKeyShowStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show which master key is in use, and the progress of a rotation.",
        examples: ["master-key status"])

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.masterKey()
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

extension MasterKeyDocument {
    var blocks: [Block] {
        [
            .record([
                ("master key", Cell(masterKeyIdentifier)), ("source", Cell(source)),
                ("data key", Cell(dataKeyIdentifier)),
                ("rotation", rotation.map { Cell($0.state, $0.blockedBy == nil ? .plain : .warning) }),
                ("rotates", rotation.map { Cell($0.dataKeyOnly ? "only the data key" : "master key and data key") }),
                ("keys sealed again", rotation.map { Cell("\($0.done) of \($0.total)") }),
                ("started (UTC)", rotation.map { Cell(time: $0.startedAt) }),
                ("ended (UTC)", rotation?.finishedAt.map { Cell(time: $0) }),
                ("blocked by", rotation?.blockedBy.map { Cell($0, .warning) }),
            ])
        ]
    }
}
