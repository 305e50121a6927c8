package import Vocabulary

/// Who requested an operation.
package enum Caller: Hashable, Sendable {
    /// A process on a Unix socket, or the daemon itself.
    case process(CallingProcess)
    /// A client of the portal.
    case remote(RemoteCaller)

    /// The name of the caller, the same for each of its processes and addresses: `uid:1000` for a process,
    /// ``RemoteCaller/name`` for a client of the portal.
    package var name: String {
        switch self {
        case .process(let process): process.name
        case .remote(let remote): remote.name
        }
    }

    package init(uid: UInt32, gid: UInt32, supplementaryGroups: Set<UInt32> = [], pid: Int32, program: String) {
        self = .process(
            CallingProcess(uid: uid, gid: gid, supplementaryGroups: supplementaryGroups, pid: pid, program: program))
    }

    /// The daemon itself, for actions that no other caller requested.
    package static func daemon(uid: UInt32, gid: UInt32, pid: Int32) -> Caller {
        Caller(uid: uid, gid: gid, pid: pid, program: "merchantkeyd")
    }

    /// nil for a process.
    package var remote: RemoteCaller? {
        if case .remote(let remote) = self { remote } else { nil }
    }

    /// nil for a client of the portal.
    package var process: CallingProcess? {
        if case .process(let process) = self { process } else { nil }
    }
}

/// The process at the other end of a Unix socket, as the kernel recorded it when the process connected; or the daemon
/// itself.
package struct CallingProcess: Hashable, Sendable {
    package let uid: UInt32
    /// The process's primary group. The audit records it.
    package let gid: UInt32
    /// The further groups of the process. They may include the primary group.
    package let supplementaryGroups: Set<UInt32>
    package let pid: Int32
    /// The program's path, if it could be read. Use it only in reports, because the process may have ended or started
    /// another program since.
    package let program: String

    package init(uid: UInt32, gid: UInt32, supplementaryGroups: Set<UInt32> = [], pid: Int32, program: String) {
        self.uid = uid
        self.gid = gid
        self.supplementaryGroups = supplementaryGroups
        self.pid = pid
        self.program = program
    }

    /// The name of every process of this user: `uid:1000`.
    package var name: String { "uid:\(uid)" }

    /// - Returns: nil if the text is not the name of a process.
    package static func uid(fromName name: String) -> UInt32? {
        guard name.hasPrefix("uid:"), let uid = UInt32(name.dropFirst(4)), "uid:\(uid)" == name else { return nil }
        return uid
    }
}

/// A client of the portal.
package struct RemoteCaller: Hashable, Sendable {
    /// `access:NAME`, `invitation:ID` or `operator:UID`; `unidentified` for a client without valid credentials.
    package let name: String
    /// The client's IP address. If the connection comes from a trusted proxy, the address that the proxy reports.
    package let address: String

    /// - Parameter name: a name that an earlier ``RemoteCaller`` had.
    package init(name: String, address: String) {
        self.name = name
        self.address = address
    }

    /// A client without valid credentials.
    package static func unidentified(address: String) -> RemoteCaller {
        RemoteCaller(name: "unidentified", address: address)
    }

    /// A client with an access token, or with the client certificate of an access.
    package static func access(_ name: AccessName, address: String) -> RemoteCaller {
        RemoteCaller(name: Self.name(ofAccess: name), address: address)
    }

    /// The name of every client with this access: `access:NAME`.
    package static func name(ofAccess access: AccessName) -> String { "\(accessPrefix)\(access)" }

    /// nil for a client without an access.
    package var accessName: AccessName? {
        guard name.hasPrefix(Self.accessPrefix) else { return nil }
        return AccessName(name.dropFirst(Self.accessPrefix.count))
    }

    private static let accessPrefix = "access:"

    /// A person at a merchant, in a session that an invitation began.
    package static func invitation(_ invitation: InvitationIdentifier, address: String) -> RemoteCaller {
        RemoteCaller(name: "invitation:\(invitation)", address: address)
    }

    /// An operator, in a session that `merchantkeyctl console` began.
    ///
    /// - Parameter uid: the user who ran `merchantkeyctl`.
    package static func operating(uid: UInt32, address: String) -> RemoteCaller {
        RemoteCaller(name: "operator:\(uid)", address: address)
    }
}
