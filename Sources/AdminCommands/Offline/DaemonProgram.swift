import ArgumentParser
import Glibc

/// Executes `merchantkeyd`, because only that program may open the database and the master key.
enum DaemonProgram {
    /// Replaces this process by `merchantkeyd` with these arguments.
    static func execute(_ arguments: [String]) throws(CommandFailure) -> Never {
        for path in [siblingPath, "merchantkeyd"].compactMap(\.self) {
            var argumentVector: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
            execvp(path, &argumentVector)
            for argument in argumentVector { free(argument) }
        }
        throw CommandFailure(
            .refused,
            "merchantkeyctl: can't run merchantkeyd: \(String(cString: strerror(errno))); install it beside merchantkeyctl or in PATH"
        )
    }

    /// The path of `merchantkeyd` in the directory of this program; nil if there is no such program.
    private static var siblingPath: String? {
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

/// The options for the paths of the daemon's settings and state, for subcommands that work without the daemon.
struct DaemonPathOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's settings file.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory.", discussion: "Default: as in the settings, else that of merchantkeyd.",
            valueName: "directory"))
    var stateDirectory: String?

    var arguments: [String] {
        (config.map { ["--config", $0] } ?? []) + (stateDirectory.map { ["--state-directory", $0] } ?? [])
    }
}

extension GlobalOptions {
    var outputArguments: [String] { ["--output", output.rawValue] }
}
