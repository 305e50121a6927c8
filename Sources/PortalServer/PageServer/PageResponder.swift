import HTTPKit
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import MerchantCore
import MerchantOperations
import NIOCore
import RESTKit
import ServerKit
import Tracing
import Vocabulary

/// Responds to requests for pages: finds the route, identifies the visitor, checks forms, and calls the handler. Shows
/// an error as a page, unless the connection is broken.
struct PageResponder: Sendable {
    private let handlers: PageHandlers
    private let authentication: PortalAuthentication
    private let readLimits: ReadLimits
    private let formCheck: FormCheck
    private let output: PageOutput
    private let reporter: RequestReporter
    private let firstRoute: Int
    private let now: @Sendable () -> Timestamp

    /// - Parameter firstRoute: the index of the first page among the routes of the reporter.
    /// - Throws: ``PageFault`` if a text or a template of the pages is missing or invalid.
    init(
        operations: PortalOperations, authentication: PortalAuthentication, readLimits: ReadLimits,
        reporter: RequestReporter, firstRoute: Int, environment: Vocabulary.Environment,
        publicURL: @escaping @Sendable () -> String?,
        now: @escaping @Sendable () -> Timestamp
    ) throws {
        handlers = PageHandlers(operations: operations, publicURL: publicURL)
        formCheck = FormCheck(publicURL: publicURL)
        output = PageOutput(
            renderer: try PageRenderer(), onboarding: operations.onboarding, environment: environment, now: now)
        self.authentication = authentication
        self.readLimits = readLimits
        self.reporter = reporter
        self.firstRoute = firstRoute
        self.now = now
    }

    func respond(to request: HummingbirdCore.Request, context: RESTContext) async throws -> Response {
        let start = NIODeadline.now()
        let target = RequestTarget(request.head.path ?? "")
        let method: HTTPRequest.Method = request.method == .head ? .get : request.method
        let index =
            target.hasNoEmptySegments
            ? PageRoutes.all.firstIndex { $0.method == method && $0.match(target.path) != nil } : nil
        let route = index.map { PageRoutes.all[$0] }
        var response = try await withSpan(
            route.map { "\($0.method.rawValue) \($0.path)" } ?? "other", context: .request(context.trace),
            ofKind: .server
        ) { _ in try await respond(to: request, target, route, context) }
        response.headers.setIdentifiers(of: context)
        reporter.record(index.map { firstRoute + $0 }, response, since: start, context)
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Replaces the problem document with a page if a form is too large or arrives too slowly, because a problem
    /// document is for programs, not for people.
    ///
    /// - Parameter target: the target of the request.
    /// - Returns: `refusal` itself for every other fault.
    func page(for refusal: RequestGuard.Refusal, of fault: HTTPFault, at target: String) -> RequestGuard.Refusal {
        switch fault {
        case .bodyTooLarge, .requestTooSlow: break
        default: return refusal
        }
        let path = RequestTarget(target).path
        let route = PageRoutes.all.first { $0.method == .post && $0.match(path) != nil }
        return output.page(for: refusal, longestBody: route?.maximumBodyBytes ?? FormLimits.fields)
    }

    private func respond(
        to request: HummingbirdCore.Request, _ target: RequestTarget, _ route: PageRoute?, _ context: RESTContext
    ) async throws -> Response {
        var context = context
        var visitor: PageVisitor?
        do {
            let identity = try await authentication.visitor(of: request, in: context)
            context.peer = identity.peer
            var found = PageVisitor(
                identity: identity,
                sessionSecret: identity.session == nil ? nil : SessionCookie.secret(in: request.headers),
                linkSecret: nil)
            // From here on, the page of an error has the navigation of the session.
            visitor = found
            try authentication.countRequest(of: identity)
            let parameter = try route.map { try Self.parameter(of: $0, in: target) } ?? ""
            if route?.path.hasSuffix("{secret}") == true { found.linkSecret = parameter }
            guard let route else { throw Self.noRoute(target) }
            guard found.isAdmitted(to: route.audience) else {
                return try await output.response(found.refusal(of: route, requestId: context.requestId), for: found)
            }
            guard let call = try await call(request, target, route, parameter, found, context) else {
                return try await output.response(
                    ErrorPage(.formExpired, requestId: context.requestId), for: found)
            }
            let response = try await run(route, call, for: found)
            // As for REST, only requests that change nothing can be refused for lack of memory.
            if route.method == .get { try context.reserve(response.body.contentLength ?? 0) }
            return response
        } catch let error as BrokenConnection {
            // A response cannot be sent. The error closes the connection.
            throw error.cause
        } catch {
            let problem = reporter.problem(error, route.map { "\($0.method.rawValue) \($0.path)" }, context)
            return await output.error(
                problem, requestId: context.requestId, for: visitor,
                longestBody: route?.maximumBodyBytes ?? FormLimits.fields)
        }
    }

    /// Calls the handler and renders the page.
    private func run(_ route: PageRoute, _ call: PageCall, for visitor: PageVisitor) async throws -> Response {
        func respond() async throws -> Response {
            try await output.response(try await route.handler(handlers)(call), for: visitor)
        }
        guard route.method == .get else { return try await respond() }
        return try await readLimits.run(for: call.peer.holder, respond)
    }

    /// Reads the query and the form.
    ///
    /// - Returns: nil if a form does not come from a page of the portal, or lacks the page's token.
    private func call(
        _ request: HummingbirdCore.Request, _ target: RequestTarget, _ route: PageRoute, _ parameter: String,
        _ visitor: PageVisitor, _ context: RESTContext
    ) async throws -> PageCall? {
        if route.method == .post, !formCheck.isFromPortal(request.headers) { return nil }
        let query = try QueryParameters(ofPage: target.rawQuery, known: route.query)
        let (_, body) = try await RequestInput(query: [], maximumBodyBytes: route.maximumBodyBytes).read(
            request, RequestTarget(String(target.path)), context)
        var form = PageForm()
        if route.method == .post {
            guard let sent = PageForm(body, contentType: request.headers[.contentType]) else {
                throw MerchantError(.malformed, "the body is not a form, expected what a page of the portal sends")
            }
            guard visitor.secrets.contains(where: { formCheck.hasToken(sent, of: $0) }) else { return nil }
            form = sent
        }
        return PageCall(
            peer: visitor.identity.peer, session: visitor.identity.session, sessionSecret: visitor.sessionSecret,
            browser: BrowserCookie.value(in: request.headers), requestId: context.requestId, method: route.method,
            isHead: request.method == .head,
            path: String(target.path), parameter: parameter,
            query: query, form: form, now: now(),
            countFailure: { () throws(MerchantError) in try authentication.countFailure(in: context) })
    }

    private static func parameter(of route: PageRoute, in target: RequestTarget) throws -> String {
        guard let parameter = PercentDecoding.decode(route.match(target.path) ?? "") else {
            throw HTTPFault.malformedEncoding(of: "the path")
        }
        return parameter
    }

    private static func noRoute(_ target: RequestTarget) -> any Error {
        let methods = PageRoutes.all.filter { $0.match(target.path) != nil }.map(\.method.rawValue)
        guard target.hasNoEmptySegments, !methods.isEmpty else { return MerchantError.noPage }
        return HTTPFault.methodNotAllowed(
            allow: (methods + (methods.contains("GET") ? ["HEAD"] : [])).joined(separator: ", "))
    }
}
