import FoundationEssentials
import HTTPKit
import HTTPTypes
import MerchantCore
import MerchantOperations
import NIOCore
import Vocabulary
import WireAPI

/// What a handler answers, with what the log says of it.
struct Answer: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: ByteBuffer
    var merchant: MerchantIdentifier?
    var key: PublicKeyHash?
    /// Nothing was done: a read, or a dry run.
    var isDryRun = false
    /// The body is in memory once for all responses.
    var isShared = false

    init(bytes body: ByteBuffer, mediaType: String, status: HTTPResponse.Status = .ok) {
        self.status = status
        headers = [.contentType: mediaType]
        self.body = body
    }

    /// JSON with its members in order of their names, so that equal documents are equal bytes.
    init(
        _ document: some Encodable, status: HTTPResponse.Status = .ok, mediaType: String = "application/json"
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(bytes: ByteBuffer(bytes: try encoder.encode(document)), mediaType: mediaType, status: status)
    }

    /// 201, and where to find what was made.
    init(created document: some Encodable, at path: String) throws {
        try self.init(document, status: .created)
        headers[.location] = path
    }

    func about(merchant: MerchantIdentifier? = nil, key: PublicKeyHash? = nil, dryRun: Bool = false) -> Answer {
        var answer = self
        answer.merchant = merchant
        answer.key = key
        answer.isDryRun = dryRun
        return answer
    }
}

extension Answer {
    /// A refusal, by the one table. What went wrong inside stays inside: the log has it, by the request's number.
    static func problem(_ error: MerchantError, requestId: String) -> Answer {
        let (status, title) = ProblemTable.status(of: error.code)
        let detail = error.code == .internalError ? "internal error, see the daemon's log" : error.detail
        var answer = problem(
            status: status, code: error.code.rawValue, title: title, detail: detail, requestId: requestId)
        if let seconds = error.retryAfter ?? ProblemTable.retryAfter(error.code) {
            answer.headers[.retryAfter] = "\(seconds)"
        }
        return answer
    }

    static func methodNotAllowed(_ allowed: [String], requestId: String) -> Answer {
        let allow = allowed.joined(separator: ", ")
        let (status, code, title, detail) = HTTPFault.methodNotAllowed(allow: allow).problem
        var answer = problem(status: status, code: code, title: title, detail: detail, requestId: requestId)
        answer.headers[.allow] = allow
        return answer
    }

    static func problem(
        status: Int, code: String, title: String, detail: String, requestId: String
    ) -> Answer {
        let problem = Problem(status: status, code: code, title: title, detail: detail, requestId: requestId)
        do {
            return try Answer(problem, status: .init(code: status), mediaType: Problem.mediaType)
        } catch {
            preconditionFailure("five strings and a number always encode as JSON")
        }
    }
}
