import Foundation

/// Determines the paths of the daemon's sockets from the options and the environment.
package struct SocketLocation: Sendable {
    /// The environment variables that determine the paths.
    package struct Variables: Sendable {
        package var socket: String?
        package var stateHome: String?
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

    /// - Throws: ``CommandFailure`` if neither the option nor the environment determines a path.
    package func admin(option: String?) throws(CommandFailure) -> String {
        if let option { return option }
        if let socket = environment.socket, !socket.isEmpty { return socket }
        // The XDG Base Directory Specification requires that a relative path is ignored.
        if let stateHome = environment.stateHome, stateHome.hasPrefix("/") {
            return "\(stateHome)/merchantkeyd/admin.sock"
        }
        guard let home = environment.home, home.hasPrefix("/") else {
            throw CommandFailure(
                .wrongUsage, "merchantkeyctl: HOME is not set, expected --socket PATH or MERCHANTKEYD_SOCKET")
        }
        return "\(home)/.local/state/merchantkeyd/admin.sock"
    }

    package static func decryptor(option: String?, beside admin: String) -> String {
        if let option { return option }
        guard let slash = admin.lastIndex(of: "/") else { return "decryptor.sock" }
        return admin[...slash] + "decryptor.sock"
    }
}
