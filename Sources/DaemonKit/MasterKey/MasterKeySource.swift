import Glibc
import KeyCustody
import MerchantCore

/// Where the daemon reads a master key, as set under `master-key` or `master-key.previous`.
package enum MasterKeySource: Hashable, Sendable, CustomStringConvertible {
    case file(String)
    /// A file in `directory`, which systemd creates for the service's credentials. `directory` is nil if systemd passed
    /// no credentials to this process.
    case credential(name: String, directory: String?)
    /// A program that prints the key: its absolute path, followed by its arguments, and how many seconds it may run.
    case command([String], seconds: Int)

    package var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .credential(let name, _): "systemd credential \(name)"
        case .command(let words, _): "command \(words.first ?? "")"
        }
    }

    /// The file that the daemon can replace when it rotates the master key; nil for a credential or a command, which
    /// the daemon cannot change.
    var file: MasterKeyFile? { if case .file(let path) = self { MasterKeyFile(path) } else { nil } }

    /// The file that the key is read from; nil for a command, or for a credential if systemd passed no credentials to
    /// this process.
    var path: String? {
        switch self {
        case .file(let path): path
        case .credential(let name, let directory): directory.map { "\($0)/\(name)" }
        case .command: nil
        }
    }

    /// Whether a program prints the key.
    var isCommand: Bool { if case .command = self { true } else { false } }

    /// Why this process cannot read the source, if the source is a systemd credential: systemd passes a credential only
    /// to the processes of the daemon's unit. nil if the credential's file exists, and for every other source.
    var reasonUnreadableHere: String? {
        guard case .credential(let name, _) = self, path.map({ FileStatus(of: $0, followsLinks: true) == nil }) ?? true
        else { return nil }
        return
            "\(self) was not checked, because only the daemon's process can read it; the daemon starts only if its unit has LoadCredential=\(name):… or LoadCredentialEncrypted=\(name):… with the right key"
    }

    /// - Throws: `storeUnavailable` if the key cannot be loaded.
    func load() throws(MerchantError) -> MasterKey {
        switch self {
        case .file(let path): return try MasterKey.load(from: path)
        case .credential(let name, let directory):
            guard let directory else {
                throw MerchantError(
                    .storeUnavailable,
                    "the master key cannot be read from the systemd credential '\(name)', because CREDENTIALS_DIRECTORY is not set; to start the daemon, add LoadCredential=\(name):… to its unit and let systemd start it. A command for backups needs the key in a file: --master-key-file"
                )
            }
            return try MasterKey.load(from: "\(directory)/\(name)", isCredential: true)
        case .command(let words, let seconds):
            // Subcommands such as `backup verify` load a key without the checks of a start.
            if let problem = CommandCheck.problem(with: words.first ?? "") {
                throw MerchantError(.storeUnavailable, problem)
            }
            return try MasterKey.load(from: words, within: seconds)
        }
    }
}
