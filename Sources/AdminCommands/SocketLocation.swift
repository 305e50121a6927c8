import Foundation
import Glibc
package import MerchantKeyClient

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

    /// The admin socket of the installed package.
    package static let systemSocket = "/run/merchantkeyd/admin.sock"

    /// The path of the admin socket: the option, else the environment variable MERCHANTKEYD_SOCKET, else the socket of
    /// the user's own daemon, else the socket of the installed package.
    ///
    /// - Parameters:
    ///   - option: the value of `--socket`; nil if the option is not given.
    ///   - exists: whether there is a file at a path; tests replace it.
    /// - Throws: ``ClientError/unreachable(socketPath:why:)`` if neither of the last two sockets exists.
    package func adminSocket(
        option: String?, exists: (String) -> Bool = SocketLocation.mayExist
    ) throws(ClientError) -> String {
        if let option { return option }
        if let socket = environment.socket, !socket.isEmpty { return socket }
        return try Self.first([ownSocket, Self.systemSocket], exists)
    }

    /// The settings file of the installed package.
    package static let systemSettings = "/etc/merchantkeyd/merchantkeyd.yaml"

    /// The settings file for a command that works without the daemon. It belongs to the daemon whose admin socket
    /// ``adminSocket(option:exists:)`` returns, so that all commands refer to the same daemon.
    ///
    /// If ``adminSocket(option:exists:)`` finds no socket, the command refers to the user's own daemon if this daemon
    /// has a state directory, else to the daemon of the installed package.
    ///
    /// - Parameters:
    ///   - socketOption: the value of `--socket`; nil if the option is not given.
    ///   - exists: whether there is a file at a path; tests replace it.
    /// - Returns: nil if the daemon has no settings file, or if its path is unknown.
    package func settingsFile(
        socketOption: String?, exists: (String) -> Bool = SocketLocation.mayExist
    ) -> String? {
        guard exists(Self.systemSettings) else { return nil }
        let isPackageDaemon =
            if let socket = try? adminSocket(option: socketOption, exists: exists) {
                socket == Self.systemSocket
            } else {
                ownStateDirectory.map { !exists($0) } ?? true
            }
        return isPackageDaemon ? Self.systemSettings : nil
    }

    /// The path of the decryptor socket: the option, else `decryptor.sock` beside the admin socket that `--socket` or
    /// MERCHANTKEYD_SOCKET names, else the `decryptor.sock` of the user's own daemon, else that of the installed
    /// package.
    ///
    /// - Parameters:
    ///   - option: the value of `--decryptor-socket`; nil if the option is not given.
    ///   - adminOption: the value of `--socket`; nil if the option is not given.
    ///   - exists: whether there is a file at a path; tests replace it.
    /// - Throws: ``ClientError/unreachable(socketPath:why:)`` if neither of the last two sockets exists.
    package func decryptorSocket(
        option: String?, adminOption: String?, exists: (String) -> Bool = SocketLocation.mayExist
    ) throws(ClientError) -> String {
        if let option { return option }
        if let admin = adminOption ?? environment.socket, !admin.isEmpty {
            return Self.decryptorSocket(besideAdminSocket: admin)
        }
        return try Self.first(
            [ownSocket, Self.systemSocket].map { $0.map(Self.decryptorSocket(besideAdminSocket:)) }, exists)
    }

    /// The socket of a daemon that the user runs without settings; nil if the environment does not determine its path.
    private var ownSocket: String? { ownStateDirectory.map { "\($0)/admin.sock" } }

    /// The state directory of a daemon that the user runs without settings; nil if the environment does not determine
    /// its path.
    private var ownStateDirectory: String? {
        // The XDG Base Directory Specification requires that a relative path is ignored.
        if let stateHome = environment.stateHome, stateHome.hasPrefix("/") { return "\(stateHome)/merchantkeyd" }
        guard let home = environment.home, home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/merchantkeyd"
    }

    private static func first(_ paths: [String?], _ exists: (String) -> Bool) throws(ClientError) -> String {
        let paths = paths.compactMap(\.self)
        if let path = paths.first(where: exists) { return path }
        let others = paths.dropFirst().map { ", and there is none at \($0)" }.joined()
        throw .unreachable(
            socketPath: paths.first ?? systemSocket,
            why: "there is no such socket\(others); is merchantkeyd running? --socket names another socket")
    }

    private static func decryptorSocket(besideAdminSocket adminSocket: String) -> String {
        guard let slash = adminSocket.lastIndex(of: "/") else { return "decryptor.sock" }
        return adminSocket[...slash] + "decryptor.sock"
    }

    /// Whether there is a file at the path. Also true if this user has no permission to find out.
    package static func mayExist(_ path: String) -> Bool {
        access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }
}
