import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

extension CompletionKind {
    /// The identifiers of the daemon's merchants.
    static var merchant: CompletionKind {
        .custom { words, _, prefix in await ShellCompletion(words: words, prefix: prefix).merchants() }
    }

    /// The hashes of the daemon's key pairs.
    static var key: CompletionKind {
        .custom { words, _, prefix in await ShellCompletion(words: words, prefix: prefix).keys() }
    }
}

/// Asks the daemon for the merchants or keys that complete a word on the command line. Returns no completions if the
/// daemon does not answer or refuses the caller, because a shell shows no error while the user types.
struct ShellCompletion: Sendable {
    /// The largest number of completions: of merchants, of keys with a prefix, or of keys in each state.
    static let limit = 200

    /// The words of the command line, as the user typed them.
    let words: [String]
    /// The beginning of the word that the shell completes.
    let prefix: String

    func merchants() async -> [String] {
        await ask { admin in
            try await admin.merchants(prefix: prefix.isEmpty ? nil : prefix, limit: Self.limit).items
                .map(\.merchantIdentifier.rawValue)
        }
    }

    /// The keys whose hash begins with the prefix. If the prefix is too short for a KEY argument, returns key pairs
    /// that are not destroyed, at most ``limit`` in each state.
    func keys() async -> [String] {
        await ask { admin in
            let found =
                prefix.utf8.count < KeyArgument.shortestPrefix
                ? try await admin.keys(in: KeyState.allCases.filter { $0 != .destroyed }, limit: Self.limit)
                : try await admin.keys(prefix: prefix, limit: Self.limit)
            return found.items.map { "\($0.publicKeyHash)" }
        }
    }

    private func ask(_ find: (AdminClient) async throws -> [String]) async -> [String] {
        do {
            let path = try SocketLocation(environment: .ofThisProcess).adminSocket(option: socketOption)
            return try await AdminClient.with(socketPath: path, connections: 1, find)
        } catch {
            return []
        }
    }

    /// The value of `--socket` on the command line; nil if the option is not given.
    private var socketOption: String? {
        if let index = words.firstIndex(of: "--socket") {
            return index + 1 < words.count ? words[index + 1] : nil
        }
        let option = "--socket="
        return words.first { $0.hasPrefix(option) }.map { String($0.dropFirst(option.count)) }
    }
}
