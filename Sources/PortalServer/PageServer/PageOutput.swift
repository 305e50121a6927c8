import HTTPTypes
import Hummingbird
import MerchantCore
import MerchantOperations
import NIOCore
import ServerKit
import Vocabulary

/// Turns what a handler answers into a response.
struct PageOutput: Sendable {
    let renderer: PageRenderer
    let onboarding: OnboardingOperations
    let environment: Vocabulary.Environment
    let now: @Sendable () -> Timestamp

    func response(_ reply: PageReply, for visitor: PageVisitor) async throws -> Response {
        switch reply {
        case .page(let page): return try await response(page, for: visitor)
        case .redirect(let path, let setCookie):
            var headers = PageHeaders.httpFields
            headers[.contentType] = nil
            headers[.location] = path
            if let setCookie { headers[.setCookie] = setCookie }
            return Response(status: .seeOther, headers: headers)
        case .pageEndingSession(let page):
            var response = render(page, as: .signedOut, for: nil)
            response.headers[.setCookie] = SessionCookie.ending
            return response
        case .download(let bytes, let mediaType, let fileName):
            var headers = PageHeaders.httpFields
            headers[.contentType] = mediaType
            headers[.contentDisposition] = "attachment; filename=\"\(fileName)\""
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
        case .asset(let asset):
            var headers = PageHeaders.httpFields
            headers[.contentType] = asset.mediaType
            headers[.cacheControl] = PortalAsset.cacheControl
            return Response(
                status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
        }
    }

    func response(_ page: any HTMLPage, for visitor: PageVisitor) async throws -> Response {
        var name: String?
        if case .invitation(_, let merchant)? = visitor.identity.session?.holder {
            name = try await onboarding.merchant(merchant, in: MerchantScope(merchants: [merchant])).merchant.name
        }
        return render(page, as: Self.frame(of: visitor, merchantName: name), for: visitor)
    }

    /// The page for a request that failed.
    ///
    /// - Parameters:
    ///   - problem: the response that a REST client would get. Its status and its fields are those of the page.
    ///   - visitor: nil if the visitor was not identified.
    ///   - longestBody: the largest body that the route reads, in bytes.
    func error(
        _ problem: Response, requestId: String, for visitor: PageVisitor?, longestBody: Int
    ) -> Response {
        let page = ErrorPage(
            status: problem.status.code, requestId: requestId,
            retryAfter: problem.headers[.retryAfter].flatMap { Int($0) }, longestBody: longestBody)
        // Without the merchant's name: reading it could fail for the same reason as the request.
        let frame = visitor.map { Self.frame(of: $0, merchantName: nil) } ?? .signedOut
        var response = render(page, as: frame, for: visitor)
        response.status = problem.status
        for name in [HTTPField.Name.retryAfter, .allow] { response.headers[name] = problem.headers[name] }
        return response
    }

    private func render(
        _ page: any HTMLPage, as frame: PageContext.Visitor, for visitor: PageVisitor?
    ) -> Response {
        let context = PageContext(
            visitor: frame, csrf: visitor?.secret.map { SessionCookie.formToken(of: $0) },
            signOutToken: visitor?.sessionSecret.map { SessionCookie.formToken(of: $0) }, environment: environment,
            now: now())
        return Response(
            status: .init(code: page.status), headers: PageHeaders.httpFields,
            body: ResponseBody(byteBuffer: renderer.render(page, in: context)))
    }

    /// The frame of the page: the navigation and the name of the visitor.
    private static func frame(of visitor: PageVisitor, merchantName: String?) -> PageContext.Visitor {
        switch visitor.identity.session?.holder {
        case nil: .signedOut
        case .operating?: .operating(visitor.identity.peer.caller.name)
        case .invitation(_, let identifier)?: .merchant(identifier, name: merchantName)
        }
    }
}
