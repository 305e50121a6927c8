import FoundationEssentials
import HTTPKit
import HTTPTypes
import HummingbirdCore
import LocalSocket
import Logging
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import Secrets
import Vocabulary

/// From a request to its answer: find the route, hold the permit against it, bound the input, call one use case, and say
/// in one log line what was done or refused.
struct AdminResponder: Sendable {
    let routes: RouteTable
    let handlers: AdminHandlers
    let policy: CallerPolicy
    let counter: RequestCounter
    let log: LimitedLog
    let readTurns = ReadConcurrency(atOnce: 4)
    /// Those that wait for events, up to 30 s each.
    let waitingReadTurns = ReadConcurrency(atOnce: 32)

    /// Everything that is the same for all requests of one connection.
    func session(
        for caller: Caller, grants: [Grant], holder: Shares.Holder, buffered: BufferedBytes.Reservation
    ) -> Session {
        Session(responder: self, caller: caller, grants: grants, holder: holder, buffered: buffered)
    }

    struct Session: Sendable {
        let responder: AdminResponder
        let caller: Caller
        let grants: [Grant]
        /// Whose share of the server its connection uses.
        let holder: Shares.Holder
        /// The memory of the request under way and of its response.
        let buffered: BufferedBytes.Reservation
    }
}

extension AdminResponder.Session {
    func respond(to request: HummingbirdCore.Request, with writer: consuming ResponseWriter) async throws {
        let requestId = Self.newRequestId()
        let target = RequestTarget(request.head.path ?? "")
        let finding = responder.routes.find(request.method, target.path)
        var answer: Answer
        switch finding {
        case .route(let route, let parameter):
            do {
                let parameter = try judge(route, parameter)
                let query = try target.query(known: route.query)
                try Self.checkLength(request.headers, limit: route.mostBytes)
                try reserve(Self.expectedLength(request.headers, limit: route.mostBytes))
                if request.headers[.expect]?.lowercased() == "100-continue" {
                    try await writer.writeInformationalHead(HTTPResponse(status: .continue))
                }
                let call = AdminCall(
                    caller: caller, grants: grants, requestId: requestId, headers: request.headers, query: query,
                    body: try await Self.collect(request, most: route.mostBytes))
                if route.method == .get {
                    let turns = query["wait"] == nil ? responder.readTurns : responder.waitingReadTurns
                    answer = try await turns.run(for: holder) {
                        try await self.answer(call, route, parameter)
                    }
                } else {
                    answer = try await self.answer(call, route, parameter)
                }
                // What was changed is answered in any case; only lists are large.
                if route.method == .get, !answer.isShared { try reserve(answer.body.readableBytes) }
                log(answer, of: route, requestId: requestId)
            } catch let fault as BrokenRequest {
                throw fault.cause
            } catch {
                answer = refuse(error, of: route, requestId: requestId)
            }
            responder.counter.count(
                method: route.method.rawValue, route: route.path, status: answer.status.code)
        case .otherMethods(let allowed):
            answer = .methodNotAllowed(allowed, requestId: requestId)
            responder.counter.count(method: "other", route: "other", status: answer.status.code)
        case .nothing:
            answer = .problem(MerchantError(.notFound, "there is nothing at this path"), requestId: requestId)
            responder.counter.count(method: "other", route: "other", status: answer.status.code)
        }
        // A caller without a permit gets one refusal a connection: what it pipelined behind costs no work.
        if grants.allowNothing, answer.status.code >= 400 { answer.headers[.connection] = "close" }
        answer.headers[.requestId] = requestId
        answer.headers[.cacheControl] = "no-store"
        answer.headers[.contentLength] = String(answer.body.readableBytes)
        try await writer.write(
            response: HTTPResponse(status: answer.status, headerFields: answer.headers),
            body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: answer.body))
    }

    /// What a path names.
    private enum PathParameter {
        case none
        case merchant(MerchantIdentifier)
        case key(PublicKeyHash)
        case registration(PartnerInternalMerchantIdentifier)
        case roll(Int)
    }

    /// - Throws: `forbidden` before anything the caller sent is looked at; then `malformed` for a bad name in the path.
    private func judge(_ route: AdminRoute, _ raw: Substring?) throws(MerchantError) -> PathParameter {
        if let permit = route.permit { try grants.require(permit) }
        let text = try RequestTarget.decode(raw ?? "", as: "the path")
        switch route.scope {
        case .open, .judgedInside: return .none
        case .everyMerchant:
            if let permit = route.permit { try requireEveryMerchant(permit) }
            return .none
        case .merchant: return .merchant(try MerchantIdentifier(text, named: "merchantIdentifier"))
        case .key: return .key(try PublicKeyHash(text, named: "publicKeyHash"))
        case .registration:
            if let permit = route.permit { try requireEveryMerchant(permit) }
            return .registration(
                try PartnerInternalMerchantIdentifier(text, named: "partnerInternalMerchantIdentifier"))
        case .roll:
            guard text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text)
            else { throw MerchantError(.malformed, "'rollId' is not one, expected digits") }
            return .roll(number)
        }
    }

    private func requireEveryMerchant(_ permit: Permit) throws(MerchantError) {
        guard grants.allowsEveryMerchant(permit) else {
            throw MerchantError(
                .forbidden, "the caller's permit '\(permit.rawValue)' is for some merchants, expected one for all")
        }
    }

    private func answer(
        _ call: AdminCall, _ route: AdminRoute, _ parameter: PathParameter
    ) async throws -> Answer {
        switch (route.scope, parameter) {
        case (.open(let handler), _), (.everyMerchant(let handler), _), (.judgedInside(let handler), _):
            return try await handler(responder.handlers, call)
        case (.merchant(let handler), .merchant(let merchant)):
            if let permit = route.permit { try grants.require(permit, for: merchant) }
            return try await handler(responder.handlers, call, merchant)
        case (.key(let handler), .key(let hash)):
            if let permit = route.permit, !grants.allowsEveryMerchant(permit) {
                try grants.require(permit, for: try await responder.handlers.owner(of: hash))
            }
            return try await handler(responder.handlers, call, hash)
        case (.registration(let handler), .registration(let partner)):
            return try await handler(responder.handlers, call, partner)
        case (.roll(let handler), .roll(let number)):
            if let permit = route.permit, !grants.allowsEveryMerchant(permit) {
                try grants.require(permit, for: try await responder.handlers.owner(ofRoll: number))
            }
            return try await handler(responder.handlers, call, number)
        case (.merchant, _), (.key, _), (.roll, _), (.registration, _):
            preconditionFailure("judge(_:_:) reads the parameter that the route's scope names")
        }
    }
}

/// The connection broke while a body came in: nobody is left to be answered.
private struct BrokenRequest: Error {
    let cause: any Error
}

extension AdminResponder.Session {
    /// What the limit on connections bounds well enough is not counted, so that small requests are answered in any case.
    ///
    /// - Throws: `overloaded` where large requests and responses hold as much memory as they may.
    private func reserve(_ bytes: Int) throws(MerchantError) {
        guard bytes > AdminRoute.ordinaryBody else { return }
        do throws(Shares.Exhausted) { try buffered.take(bytes) } catch {
            throw MerchantError(
                .overloaded,
                error == .total
                    ? "large requests and responses fill the memory they may have; try again later"
                    : "your large requests and responses fill the memory they may have; take the responses, then try again"
            )
        }
    }

    private static func checkLength(_ headers: HTTPFields, limit: Int) throws(MerchantError) {
        guard let text = headers[.contentLength], let length = Int(text) else { return }
        guard length <= limit else { throw tooLarge(limit) }
    }

    /// The most that the body can hold.
    private static func expectedLength(_ headers: HTTPFields, limit: Int) -> Int {
        headers[.contentLength].flatMap { Int($0) } ?? (headers[.transferEncoding] == nil ? 0 : limit)
    }

    private static func tooLarge(_ most: Int) -> MerchantError {
        most == 0
            ? MerchantError(.malformed, "found a body, expected none with this call")
            : MerchantError(.tooLarge, "the body is longer than \(most) bytes, the most this call takes")
    }

    private static func collect(_ request: HummingbirdCore.Request, most: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        // In one piece from the start: what an array outgrows is freed as it is.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length <= most {
            bytes.reserveCapacity(length)
        }
        do {
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= most else { throw tooLarge(most) }
                bytes.append(contentsOf: part.readableBytesView)
                // The connection's own buffer, of which this part is ours: it may be a private key.
                part.withUnsafeReadableBytes(Wipe.overwrite)
            }
        } catch let error as MerchantError {
            throw error
        } catch {
            throw BrokenRequest(cause: error)
        }
        // A connection that ends early can look like a body that ended.
        if let text = request.headers[.contentLength], let length = Int(text), length != bytes.count {
            throw BrokenRequest(cause: ChannelError.eof)
        }
        return bytes
    }

    private static func newRequestId() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func log(_ answer: Answer, of route: AdminRoute, requestId: String) {
        if let action = route.action, !answer.isDryRun {
            responder.log.logger.info(
                "\(action)", metadata: metadata(requestId, merchant: answer.merchant, key: answer.key))
        } else {
            responder.log.logger.debug(
                "request answered",
                metadata: metadata(requestId, merchant: answer.merchant, key: answer.key)
                    .merging(["route": "\(route.method.rawValue) \(route.path)"]) { old, _ in old })
        }
    }

    private func refuse(_ error: any Error, of route: AdminRoute, requestId: String) -> Answer {
        let refusal = error as? MerchantError ?? MerchantError(.internalError, "\(type(of: error)): \(error)")
        responder.handlers.operations.integrity.note(refusal)
        var metadata = metadata(requestId)
        metadata["route"] = "\(route.method.rawValue) \(route.path)"
        metadata["code"] = "\(refusal.code.rawValue)"
        let (level, message): (Logger.Level, String) =
            switch refusal.code {
            case .internalError, .keyDamaged, .storeUnavailable: (.error, "request failed")
            case .forbidden: (.warning, "request forbidden")
            default: (.info, "request refused")
            }
        if level == .error { metadata["detail"] = "\(refusal.detail.prefix(512))" }
        if refusal.code == .forbidden {
            responder.handlers.operations.refusals.note(Refusal(by: caller, permit: route.permit))
        }
        responder.log.write(level, message, uid: caller.uid, metadata: metadata)
        return .problem(refusal, requestId: requestId)
    }

    private func metadata(
        _ requestId: String, merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "requestId": "\(requestId)", "uid": "\(caller.uid)", "pid": "\(caller.pid)",
            "program": "\(caller.program)",
        ]
        if let merchant { metadata["merchantIdentifier"] = "\(merchant)" }
        if let key { metadata["publicKeyHash"] = "\(key)" }
        return metadata
    }
}

extension AdminResponder.Session {
    /// What a request is answered that breaks HTTP's own rules.
    func refusal(_ fault: HTTPFault) -> RequestGuard.Refusal {
        let requestId = Self.newRequestId()
        let problem = fault.problem
        responder.counter.count(method: "other", route: "other", status: problem.status)
        responder.log.write(
            .info, "request refused", uid: caller.uid,
            metadata: metadata(requestId).merging(["code": "\(problem.code)"]) { old, _ in old })
        let answer = Answer.problem(
            status: problem.status, code: problem.code, title: problem.title, detail: problem.detail,
            requestId: requestId)
        var headers = HTTPHeaders(answer.headers.map { ($0.name.rawName, $0.value) })
        headers.add(name: "x-request-id", value: requestId)
        headers.add(name: "cache-control", value: "no-store")
        return RequestGuard.Refusal(
            status: HTTPResponseStatus(statusCode: problem.status), headers: headers, body: answer.body)
    }
}
