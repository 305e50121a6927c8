import ArgumentParser
import Glibc

/// Executes `merchantkeyd`, because only that program may open the database and the master key.
enum DaemonProgram {
    /// Executes `merchantkeyd` with these arguments in place of this process. Prefers the `merchantkeyd` beside this
    /// program to the one in `PATH`.
    ///
    /// - Throws: ``CommandFailure`` if neither can be executed.
    static func execute(_ arguments: [String]) throws(CommandFailure) -> Never {
        var code: Int32 = 0
        for path in [siblingPath, "merchantkeyd"].compactMap(\.self) {
            var argumentVector: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
            // execvp(3) returns only if it failed.
            execvp(path, &argumentVector)
            code = errno
            for argument in argumentVector { free(argument) }
        }
        throw CommandFailure(
            .failed,
            "merchantkeyctl: can't run merchantkeyd: \(String(cString: strerror(code))); install it beside merchantkeyctl or in PATH"
        )
    }

    /// The path of `merchantkeyd` in the directory of this program; nil if that directory contains no such program.
    private static var siblingPath: String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0.assumingMemoryBound(to: CChar.self), bytes.count) }
                ?? 0
        }
        guard count > 0 else { return nil }
        let ownPath = String(decoding: buffer[..<count], as: UTF8.self)
        guard let slash = ownPath.lastIndex(of: "/") else { return nil }
        let path = "\(ownPath[..<slash])/merchantkeyd"
        return access(path, X_OK) == 0 ? path : nil
    }
}

/// The options for the paths of the daemon's settings and state, for subcommands that work without the daemon.
struct DaemonPathOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the daemon's settings from this file.",
            discussion: """
                Default: /etc/merchantkeyd/merchantkeyd.yaml. If this file is missing, or if --state-directory, \
                --socket or the default of --socket names another daemon, no file is read and all settings have their \
                defaults.
                """,
            valueName: "file"), completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Use this state directory of the daemon.",
            discussion: "Default: the state directory in the settings, else the default of merchantkeyd.",
            valueName: "directory"), completion: .directory)
    var stateDirectory: String?

    var isEmpty: Bool { config == nil && stateDirectory == nil }

    /// The arguments for `merchantkeyd`. If neither option is given and a settings file is found, prints its path.
    func arguments(_ global: GlobalOptions) -> [String] {
        (settingsFile(global).map { ["--config", $0] } ?? [])
            + (stateDirectory.map { ["--state-directory", $0] } ?? [])
    }

    private func settingsFile(_ global: GlobalOptions) -> String? {
        guard isEmpty else { return config }
        guard let file = SocketLocation(environment: .ofThisProcess).settingsFile(socketOption: global.socket) else {
            return nil
        }
        global.printer.note("reading the settings from \(file)")
        return file
    }
}

extension GlobalOptions {
    var outputArguments: [String] { ["--output", output.rawValue] }
}
