import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Vocabulary

/// A request for a page, as a handler receives it. The session is already checked; for POST, so are the origin and the
/// form's token.
struct PageCall: Sendable {
    let peer: Peer
    let session: ResumedSession?
    /// The secret in the session's cookie; nil without a session.
    let sessionSecret: String?
    /// The value of the ``BrowserCookie``; nil without one.
    let browser: String?
    let requestId: String
    /// The method of the request; `GET` if the method is `HEAD`.
    let method: HTTPRequest.Method
    /// Whether the client gets only the head of the response. The response must not use up a value that is shown only
    /// once, such as the link of a new invitation.
    let isHead: Bool
    let path: String
    /// The value of the path's parameter, decoded; empty if the path has none.
    let parameter: String
    let query: QueryParameters
    /// The fields of the form; empty for GET.
    let form: PageForm
    let now: Timestamp
    /// Counts a failed attempt to sign in.
    let countFailure: @Sendable () throws(MerchantError) -> Void

    var address: String { peer.caller.remote?.address ?? "" }

    /// The merchant of the session. Only for a session that an invitation began.
    func merchant() throws(MerchantError) -> MerchantIdentifier {
        guard case .invitation(_, let merchant)? = session?.holder else { throw .noPage }
        return merchant
    }

    var scope: MerchantScope { MerchantScope(.onboard, in: peer.grants) }

    var request: Request { Request(caller: peer.caller, requestId: requestId) }

    /// ``request`` with the idempotency key of the form, so that a form that is sent twice has an effect only once.
    func requestWithFormKey() throws(MerchantError) -> Request {
        guard let key = form["idempotencyKey"] else { return request }
        return Request(
            caller: peer.caller, requestId: requestId,
            idempotency: try Request.Idempotency(
                fieldValues: [key], caller: peer.caller, operation: "POST \(path)", body: form.content))
    }
}

/// The reply of a handler.
enum PageReply: Sendable {
    case page(any HTMLPage, setCookie: String? = nil)
    /// Status 303, so that reloading the next page does not send the form again.
    case redirect(String, setCookie: String? = nil)
    /// A page that ends the session in the browser.
    case pageEndingSession(any HTMLPage)
    case download(ByteBuffer, mediaType: String, fileName: String)
    case asset(PortalAsset)
}

extension MerchantError {
    /// For a path without a page.
    static let noPage = MerchantError(.notFound, "there is no page at this path")
}
