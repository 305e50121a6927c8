import HTTPKit
import MerchantCore
import ServerKit
import Testing

@Suite struct ProblemTableTests {
    @Test("each code has its own title and an error status")
    func table() {
        let found = MerchantError.Code.allCases.map { ProblemTable.status(of: $0) }
        #expect(Set(found.map(\.title)).count == found.count)
        #expect(found.allSatisfy { (400...599).contains($0.status) && $0.title.first?.isLowercase == true })
    }

    @Test("only what the caller can't change is a server error, and only what is temporary has a Retry-After")
    func causes() {
        let serverErrors: Set<MerchantError.Code> = [
            .overloaded, .storeUnavailable, .keyDamaged, .internalError, .provisioningDisabled,
            // Failures of a hook.
            .activationFailed, .activationUnavailable, .usageInformationFailed, .usageInformationUnavailable,
            // Failures at Apple, or of the connection to Apple.
            .gatewayUnauthorized, .gatewayUntrusted, .gatewayFailed, .gatewayUnavailable, .gatewayNotConfigured,
            .gatewayResponseNotReceived,
        ]
        let temporary: Set<MerchantError.Code> = [
            .overloaded, .storeUnavailable, .registrationConflict, .gatewayRateLimited, .gatewayUnavailable,
            .gatewayResponseNotReceived, .tooManyRequests, .activationUnavailable,
            .usageInformationUnavailable, .merchantTokenKeyNotReady,
        ]
        for code in MerchantError.Code.allCases {
            #expect((ProblemTable.status(of: code).status >= 500) == serverErrors.contains(code), "\(code)")
            #expect((ProblemTable.retryAfter(code) != nil) == temporary.contains(code), "\(code)")
        }
    }

    @Test func `the advice is to wait for Retry-After for exactly the codes whose responses always have this header`() {
        for code in MerchantError.Code.allCases {
            let waits = ProblemTable.retryAdvice(code) == .afterRetryAfter
            #expect(waits == (ProblemTable.retryAfter(code) != nil), "\(code)")
        }
    }

    @Test func `each code lists one retry advice, and every status of a response with the code`() throws {
        #expect(Set(ProblemCode.all.map(\.name)).count == ProblemCode.all.count)
        let malformed = try #require(ProblemCode.all.first { $0.name == "malformed" })
        #expect(malformed.statuses == [400, 505])
        let tooLarge = try #require(ProblemCode.all.first { $0.name == "tooLarge" })
        #expect(tooLarge.statuses == [413, 431])
        for fault in HTTPFault.examples {
            let code = try #require(ProblemCode.all.first { $0.name == fault.problem.code }, "\(fault)")
            #expect(code.statuses.contains(fault.problem.status), "\(fault)")
            #expect(code.retry == ProblemTable.retryAdvice(fault), "\(fault)")
        }
    }
}
