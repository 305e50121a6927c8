import HTTPKit
import HTTPTypes
import Hummingbird
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import ServerKit
import Vocabulary

/// Converts the reply of a handler to an HTTP response.
struct PageOutput: Sendable {
    let renderer: PageRenderer
    let onboarding: OnboardingOperations
    let environment: Vocabulary.Environment
    let now: @Sendable () -> Timestamp

    func response(_ reply: PageReply, for visitor: PageVisitor) async throws -> Response {
        switch reply {
        case .page(let page, let setCookie):
            var response = try await response(page, for: visitor)
            if let setCookie { response.headers[.setCookie] = setCookie }
            return response
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
        render(page, as: Self.frame(of: visitor, merchantName: try await merchantName(of: visitor)), for: visitor)
    }

    /// The name of the merchant of the visitor's session; nil without such a session, or if the merchant has no name.
    private func merchantName(of visitor: PageVisitor) async throws -> String? {
        guard case .invitation(_, let merchant)? = visitor.identity.session?.holder else { return nil }
        return try await onboarding.merchant(merchant, in: MerchantScope(merchants: [merchant])).merchant.name
    }

    /// The page for a request that failed.
    ///
    /// - Parameters:
    ///   - problem: the response that a REST client would get. The page has the same status, `Retry-After` and `Allow`.
    ///   - visitor: nil if the visitor was not identified.
    ///   - longestBody: the largest body that the route reads, in bytes.
    func error(
        _ problem: Response, requestId: String, for visitor: PageVisitor?, longestBody: Int
    ) async -> Response {
        let page = ErrorPage(
            status: problem.status.code, requestId: requestId,
            retryAfter: problem.headers[.retryAfter].flatMap { Int($0) }, longestBody: longestBody)
        var frame = PageContext.Visitor.signedOut
        if let visitor {
            // The merchant's name is not read after an error of the server, because that read could fail too. It is
            // not read after a refusal of too many requests either, to save work.
            let readsName = problem.status.code < 500 && problem.status != .tooManyRequests
            var name: String?
            if readsName { name = try? await merchantName(of: visitor) }
            frame = Self.frame(of: visitor, merchantName: name)
        }
        var response = render(page, as: frame, for: visitor)
        response.status = problem.status
        for name in [HTTPField.Name.retryAfter, .allow] { response.headers[name] = problem.headers[name] }
        return response
    }

    /// The page for a request that was refused before its visitor was identified.
    ///
    /// - Parameter longestBody: the largest body that the route reads, in bytes.
    func page(for refusal: RequestGuard.Refusal, longestBody: Int) -> RequestGuard.Refusal {
        let page = ErrorPage(
            status: Int(refusal.status.code), requestId: refusal.headers.first(name: "X-Request-Id"),
            retryAfter: refusal.headers.first(name: "Retry-After").flatMap { Int($0) }, longestBody: longestBody)
        let context = PageContext(visitor: .signedOut, csrf: nil, environment: environment, now: now())
        var headers = HTTPHeaders(PageHeaders.fields.map { ($0.name, $0.value) })
        for name in ["X-Request-Id", "Retry-After"] {
            for value in refusal.headers[name] { headers.add(name: name, value: value) }
        }
        return RequestGuard.Refusal(
            status: refusal.status, headers: headers, body: renderer.render(page, in: context))
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
