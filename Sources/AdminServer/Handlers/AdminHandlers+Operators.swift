import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary
import WireAPI

/// Both routes need only the permit `read`, because a caller with this permit may sign in and out. To end the sessions
/// of other users, the caller also needs the permit `administer` for every merchant.
extension AdminRoutes {
    static let operators: [AdminRoute] = [
        .changes(
            .post, "/v1/operator-logins", logMessage: "operator login created", permit: .read,
            AdminHandlers.createOperatorLogin),
        .changes(
            .delete, "/v1/operator-sessions", logMessage: "operator sessions ended", permit: .read,
            effect: .destroys, query: ["uid", "allUsers"], AdminHandlers.endOperatorSessions),
    ]
}

extension AdminHandlers {
    /// Creates a login for the calling user. The session that begins with this login has the permits that the setting
    /// `callers` gives to this user and to the groups that the user has now.
    func createOperatorLogin(_ call: RESTCall) async throws -> RESTResponse {
        guard call.body.isEmpty else {
            throw MerchantError(.malformed, "found a body, expected none for this path and method")
        }
        let process = try Self.process(call)
        let portal = try operations.requiredPortalURL()
        let (secret, expiresAt) = try await operations.portalSessions.createLogin(
            uid: process.uid, groups: process.supplementaryGroups.union([process.gid]), for: call.request)
        return try RESTResponse(
            OperatorLoginDocument(url: portal + Paths.loginPage(secret.text), expiresAt: expiresAt),
            status: .created)
    }

    /// Ends the sessions of the calling user, of another user or of all users.
    func endOperatorSessions(_ call: RESTCall) async throws -> RESTResponse {
        guard call.body.isEmpty else {
            throw MerchantError(.malformed, "found a body, expected none for this path and method")
        }
        let caller = try Self.process(call).uid
        let largest = Int(UInt32.max)
        let uid = try call.query.integer("uid", in: 0...largest, expectation: "0 to \(largest)").map { UInt32($0) }
        let endsAll = try call.query.flag("allUsers")
        guard uid == nil || !endsAll else {
            throw MerchantError(.malformed, "'uid' and 'allUsers' exclude each other; send only one")
        }
        let selected: UInt32? = endsAll ? nil : uid ?? caller
        if selected != caller { try call.peer.requireEveryMerchant(.administer) }
        let ended = try await operations.portalSessions.endOperatorSessions(of: selected, for: call.request)
        return try RESTResponse(
            EndedOperatorSessionsDocument(sessionsEnded: ended.sessions, linksEnded: ended.logins))
    }

    /// Every caller on the admin socket is a process.
    private static func process(_ call: RESTCall) throws(MerchantError) -> CallingProcess {
        guard let process = call.caller.process else {
            throw MerchantError(.forbidden, "only a user of this machine can be an operator")
        }
        return process
    }
}
