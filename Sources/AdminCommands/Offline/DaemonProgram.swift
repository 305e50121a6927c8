import ArgumentParser
import Glibc

/// The program merchantkeyd beside this one: database and master key are its alone, so it does what needs them.
enum DaemonProgram {
    /// Becomes merchantkeyd with these arguments; its end is ours.
    static func become(_ arguments: [String]) throws(CommandFailure) -> Never {
        for path in [beside, "merchantkeyd"].compactMap(\.self) {
            var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
            execvp(path, &words)
            for word in words { free(word) }
        }
        throw CommandFailure(
            .refused, "merchantkeyctl: can't run merchantkeyd: \(String(cString: strerror(errno))); it does this work")
    }

    private static var beside: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0.assumingMemoryBound(to: CChar.self), bytes.count) }
                ?? 0
        }
        guard count > 0 else { return nil }
        let own = String(decoding: buffer[..<count], as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let path = "\(own[..<slash])/merchantkeyd"
        return access(path, X_OK) == 0 ? path : nil
    }
}

/// Where the daemon's settings and state are, for verbs that work without it.
struct PlaceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's settings.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory.", discussion: "Default: the settings', else merchantkeyd's own.",
            valueName: "directory"))
    var stateDirectory: String?

    var arguments: [String] {
        (config.map { ["--config", $0] } ?? []) + (stateDirectory.map { ["--state-directory", $0] } ?? [])
    }
}

extension GlobalOptions {
    var outputArguments: [String] { ["--output", output.rawValue] }
}
