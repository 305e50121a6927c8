import HTTPKit
import Logging
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import PaymentToken
import StrictJSON
import WireAPI

/// Turns what was thrown into the answer, and tells the log what the caller is not told.
struct Problems: Sendable {
    let log: LimitedLog
    let damage: IntegrityFindings

    func response(to error: any Error, requestId: String = RequestId.make()) -> Response {
        let problem = problem(for: error, requestId: requestId)
        var fields = [("X-Request-Id", requestId)]
        if case HTTPFault.methodNotAllowed(let allow) = error { fields.append(("Allow", allow)) }
        if problem.status == 503 { fields.append(("Retry-After", "1")) }
        let body = JSONBytes.encode(problem)
        return Response(
            HTTPResponseStatus(statusCode: problem.status), Problem.mediaType, fields: fields,
            bodyCapacity: body.count
        ) { $0.writeBytes(body) }
    }

    private func problem(for error: any Error, requestId: String) -> Problem {
        switch error {
        case let fault as HTTPFault:
            let (status, code, title, detail) = fault.problem
            return Problem(status: status, code: code, title: title, detail: detail, requestId: requestId)
        case let error as MerchantError: return problem(for: error, requestId: requestId)
        case let fault as JSONFault:
            return problem(for: MerchantError(.malformed, fault.description), requestId: requestId)
        case let error as PaymentTokenError:
            return problem(for: MerchantError(.tokenMalformed, error.detail), requestId: requestId)
        default: return unexpected(error, requestId: requestId)
        }
    }

    private func problem(for error: MerchantError, requestId: String) -> Problem {
        if error.code == .internalError { return unexpected(error, requestId: requestId) }
        let (status, title) = ProblemTable.status(of: error.code)
        // The detail of a mismatch names the token's own values: it goes to the caller alone.
        damage.note(error)
        let isOurFault = error.code == .storeUnavailable || error.code == .keyDamaged
        log.write(
            isOurFault ? .error : .debug, "request refused",
            metadata: ["code": "\(error.code.rawValue)", "requestId": "\(requestId)"])
        return Problem(
            status: status, code: error.code.rawValue, title: title, detail: error.detail, requestId: requestId)
    }

    private func unexpected(_ error: any Error, requestId: String) -> Problem {
        log.write(.error, "request failed", metadata: ["error": "\(error)", "requestId": "\(requestId)"])
        let (status, title) = ProblemTable.status(of: .internalError)
        return Problem(
            status: status, code: MerchantError.Code.internalError.rawValue, title: title,
            detail: "something unexpected happened, the daemon's log has it under this requestId",
            requestId: requestId)
    }
}

/// A request's number: what log, audit and answer name it by.
enum RequestId {
    /// 16 hexadecimal digits, random.
    static func make() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
