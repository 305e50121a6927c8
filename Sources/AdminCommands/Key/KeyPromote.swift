import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyPromote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Make key pairs the current keys of their merchants.",
        discussion: """
            The current key is the key to which Apple encrypts tokens, so promote a key after its certificate was activated at \
            Apple. The previous current key becomes retiring: the daemon still decrypts tokens for that key. To undo the \
            promotion, promote the previous key.

            With several keys, a key that can't be promoted does not stop the others; a key that is current already is \
            unchanged. If two of the keys belong to one merchant and have the same algorithm, only one of them stays \
            current.
            """,
        examples: [
            "key promote aXryfzzh --dry-run",
            "key promote aXryfzzh",
            "key promote --keys-file activated.txt",
        ])

    @Argument(
        help: "The publicKeyHash of each key, or its first characters (at least 4).", completion: .key,
        transform: KeyArgument.parse)
    var key: [KeyArgument] = []

    @Option(
        help: ArgumentHelp(
            "Promote the keys in this file, one on each line; text after the first blank of a line is ignored.",
            valueName: "file"), completion: .file())
    var keysFile: String?

    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard key.isEmpty != (keysFile == nil) else {
            throw ValidationError(
                key.isEmpty
                    ? "name a KEY, or use --keys-file"
                    : "a KEY can't be combined with --keys-file; omit one of the two")
        }
    }

    func run() async throws {
        let keys = try keysFile.map { try KeysFile(try InputFile($0).read(), named: $0).keys } ?? key
        if keysFile == nil, let only = keys.first, keys.count == 1 { return try await promote(only) }
        let promotions = KeyPromotions(keys: keys)
        let summary: BulkSummary? = try await global.withAdminClient(connections: bulk.concurrency) { admin in
            if dryRun {
                try await promotions.showPlan(admin, global.printer)
                return nil
            }
            return try await promotions.promote(admin, bulk, isQuiet: global.quiet)
        }
        try summary?.printAndThrowIfFailed(global.printer)
    }

    private func promote(_ key: KeyArgument) async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.promote(try await key.resolve(admin), dryRun: dryRun)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings)
        }
    }
}
