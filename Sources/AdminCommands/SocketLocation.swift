import Foundation

/// Determines the paths of the daemon's sockets from the options and the environment variables.
package struct SocketLocation: Sendable {
    /// The values of the environment variables that determine the paths; nil for a variable that is not set.
    package struct Variables: Sendable {
        /// `MERCHANTKEYD_SOCKET`
        package var socket: String?
        /// `XDG_STATE_HOME`
        package var stateHome: String?
        /// `HOME`
        package var home: String?

        package init(socket: String? = nil, stateHome: String? = nil, home: String? = nil) {
            self.socket = socket
            self.stateHome = stateHome
            self.home = home
        }

        static var ofThisProcess: Variables {
            let environment = ProcessInfo.processInfo.environment
            return Variables(
                socket: environment["MERCHANTKEYD_SOCKET"], stateHome: environment["XDG_STATE_HOME"],
                home: environment["HOME"])
        }
    }

    private let environment: Variables

    package init(environment: Variables) { self.environment = environment }

    /// The path of the admin socket.
    ///
    /// - Parameter option: the value of `--socket`; nil if the option is not given.
    /// - Throws: ``CommandFailure`` if neither the option nor the environment determines a path.
    package func adminSocket(option: String?) throws(CommandFailure) -> String {
        if let option { return option }
        if let socket = environment.socket, !socket.isEmpty { return socket }
        // The XDG Base Directory Specification requires that a relative path is ignored.
        if let stateHome = environment.stateHome, stateHome.hasPrefix("/") {
            return "\(stateHome)/merchantkeyd/admin.sock"
        }
        guard let home = environment.home, home.hasPrefix("/") else {
            throw CommandFailure(
                .wrongUsage,
                "merchantkeyctl: the path of the admin socket is unknown, because HOME is not set to an absolute path; use --socket PATH or set MERCHANTKEYD_SOCKET"
            )
        }
        return "\(home)/.local/state/merchantkeyd/admin.sock"
    }

    /// The path of the decryptor socket: the value of `--decryptor-socket`, otherwise `decryptor.sock` in the directory
    /// of the admin socket.
    package static func decryptorSocket(option: String?, besideAdminSocket adminSocket: String) -> String {
        if let option { return option }
        guard let slash = adminSocket.lastIndex(of: "/") else { return "decryptor.sock" }
        return adminSocket[...slash] + "decryptor.sock"
    }
}
