import ArgumentParser
import Vocabulary
import WireAPI

/// The options of subcommands that import private keys.
struct KeyImportOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the private key's passphrase from this file. One line end at the end of the file is ignored.",
            valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(help: "State of the imported key: standby, current or retiring. Default: standby.")
    var state: ImportStateArgument?

    @Flag(help: "Accept an expired certificate, so that old tokens can be decrypted.")
    var allowExpired = false

    @Option(help: "Purpose: paymentProcessing or identity. Default: paymentProcessing.")
    var purpose: KeyPurpose?

    var fields: KeyImportFields {
        KeyImportFields(state: state?.state, purpose: purpose, allowExpired: allowExpired ? true : nil)
    }
}

/// The fields of an import that are the same for every key.
struct KeyImportFields: Sendable {
    let state: KeyState?
    let purpose: KeyPurpose?
    let allowExpired: Bool?
}

extension ImportKeyRequest {
    mutating func set(_ fields: KeyImportFields) {
        (state, purpose, allowExpired) = (fields.state, fields.purpose, fields.allowExpired)
    }
}
