import Glibc
import KeyCustody
import MerchantCore

/// Where the master key comes from: the setting `master-key.source` and its fellows.
package enum MasterKeySource: Hashable, Sendable, CustomStringConvertible {
    case file(String)
    /// The file of a name in the directory that systemd made for the service.
    case credential(name: String, directory: String?)
    /// A program's absolute path and its arguments; at most so many seconds.
    case command([String], seconds: Int)

    package var description: String {
        switch self {
        case .file(let path): "file \(path)"
        case .credential(let name, _): "systemd credential \(name)"
        case .command(let words, _): "command \(words.first ?? "")"
        }
    }

    /// The file, where it is one that the daemon may replace.
    var file: MasterKeyFile? { if case .file(let path) = self { MasterKeyFile(path) } else { nil } }

    /// - Throws: `storeUnavailable`, saying what was found and what was expected.
    func load() throws(MerchantError) -> MasterKey {
        switch self {
        case .file(let path): return try MasterKey.load(from: path)
        case .credential(let name, let directory):
            guard let directory else {
                throw MerchantError(
                    .storeUnavailable,
                    "the master key is the systemd credential '\(name)', but CREDENTIALS_DIRECTORY is not set: expected LoadCredential=\(name):… in the unit, and a start by systemd"
                )
            }
            return try MasterKey.load(from: "\(directory)/\(name)", isCredential: true)
        case .command(let words, let seconds): return try MasterKey.load(from: words, within: seconds)
        }
    }
}

/// Where the master key comes from, and where the one before it does.
package struct MasterKeySettings: Hashable, Sendable {
    package var current: MasterKeySource
    /// The setting `master-key.previous`: asked where something is still sealed by that key.
    package var previous: MasterKeySource?

    package init(current: MasterKeySource, previous: MasterKeySource? = nil) {
        self.current = current
        self.previous = previous
    }
}
