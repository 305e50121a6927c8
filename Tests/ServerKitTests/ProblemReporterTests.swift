import FoundationEssentials
import HTTPKit
import Logging
import MerchantCore
import MerchantOperations
import NIOCore
import ServerKit
import Testing

@Suite struct ProblemReporterTests {
    private let problems = ProblemReporter(
        log: LimitedLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
        integrityFindings: IntegrityFindings(),
        refusalLevel: .info, forbiddenLevel: .warning)

    private func field(_ name: String, _ response: ProblemResponse) -> String? {
        response.fields.first { $0.name == name }?.value
    }

    private func member(_ name: String, _ response: ProblemResponse) throws -> String? {
        struct Members: Decodable { let code, detail, requestId: String }
        let members = try JSONDecoder().decode(Members.self, from: Data(response.body.readableBytesView))
        return ["code": members.code, "detail": members.detail, "requestId": members.requestId][name]
    }

    @Test("Retry-After comes from the error, or else from its code")
    func retryAfter() {
        let response = { problems.response(to: $0, requestId: "1") }
        #expect(field("Retry-After", response(MerchantError(.storeUnavailable, "full", retryAfter: 7))) == "7")
        #expect(field("Retry-After", response(MerchantError(.merchantExists, "there", retryAfter: 9))) == "9")
        #expect(field("Retry-After", response(MerchantError(.storeUnavailable, "full"))) == "1")
        #expect(field("Retry-After", response(MerchantError(.merchantExists, "there"))) == nil)
    }

    @Test("405 lists the methods in Allow")
    func allow() throws {
        let response = problems.response(to: HTTPFault.methodNotAllowed(allow: "GET, HEAD"), requestId: "1")
        #expect(response.status == 405 && field("Allow", response) == "GET, HEAD")
        #expect(try member("code", response) == "methodNotAllowed")
    }

    @Test("the cause of an internal error is not in the response")
    func internalError() throws {
        struct Broken: Error { let detail = "DEADBEEF" }
        for error: any Error in [Broken(), MerchantError(.internalError, "DEADBEEF")] {
            let response = problems.response(to: error, requestId: "42")
            #expect(response.status == 500)
            #expect(try member("code", response) == "internalError" && member("requestId", response) == "42")
            #expect(try member("detail", response)?.contains("DEADBEEF") == false)
        }
    }

    @Test("a refused connection gets a whole HTTP response that closes it")
    func closingMessage() {
        let response = problems.response(to: MerchantError(.overloaded, "full"), requestId: "1")
        let text = String(buffer: response.closingMessage)
        #expect(text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(text.contains("\r\nRetry-After: 1\r\n") && text.contains("\r\nConnection: close\r\n\r\n{"))
        #expect(text.contains("\r\nContent-Length: \(response.body.readableBytes)\r\n"))
    }
}
