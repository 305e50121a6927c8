import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// A way in which Apple refuses a session, or in which the call to Apple fails.
struct SessionRefusal: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let error: GatewayError
    let code: MerchantError.Code
    /// A part of the advice in the error's detail; empty if the test expects none.
    let advice: String
    let outcome: SessionMetrics.Outcome

    init(
        _ description: String, _ kind: GatewayError.Kind, _ status: Int?, _ message: String? = nil,
        _ code: MerchantError.Code, _ advice: String, _ outcome: SessionMetrics.Outcome
    ) {
        testDescription = description
        // As the gateway writes it: the detail quotes only the beginning of a message.
        error = GatewayError(
            kind, "Apple refused (status \(status ?? 0)\(message.map { ", '\($0.prefix(60))'" } ?? ""))",
            status: status,
            appleMessage: message, correlationIdentifier: "c-1", mayHaveActed: false)
        self.code = code
        self.advice = advice
        self.outcome = outcome
    }

    private static let prefix = "Payment Services Exception "
    private static let hash = String(repeating: "AB", count: 32)
    private static let long = String(repeating: "a", count: 1_024)
    private static let massEnablement =
        "reason=\(hash) is not a registered merchant in WWDR and isn't properly authorized via Mass Enablement, either."

    static let all: [SessionRefusal] = [
        SessionRefusal(
            "400, domain", .refused, 400, "\(prefix)merchantId=\(hash) not registered for domain=shop.example.com",
            .sessionDomainNotRegistered, "registration sync --check", .domainNotRegistered),
        SessionRefusal(
            "417, domain", .platformNotRegistered, 417,
            "\(prefix)merchantId=\(hash) not registered for domain=x.example",
            .sessionDomainNotRegistered, "registration sync --check", .domainNotRegistered),
        SessionRefusal(
            "400, domain, after a long identifier", .refused, 400,
            "\(prefix)merchantId=\(long) not registered for domain=x.example", .sessionDomainNotRegistered,
            "registration sync --check", .domainNotRegistered),
        SessionRefusal(
            "400, on behalf of", .refused, 400,
            "\(prefix)merchantId=\(hash) unauthorized to process transactions on behalf of merchantId=\(hash)",
            .sessionMerchantUnauthorized, "may not act for", .merchantUnauthorized),
        SessionRefusal(
            "417, on behalf of", .platformNotRegistered, 417,
            "\(prefix)pspId=\(hash) unauthorized to process transactions on behalf of merchantId=\(hash) \(massEnablement)",
            .sessionMerchantUnauthorized, "may not act for", .merchantUnauthorized),
        SessionRefusal(
            "417, mass enablement alone", .platformNotRegistered, 417, "\(prefix)\(massEnablement)",
            .sessionMerchantUnauthorized, "may not act for", .merchantUnauthorized),
        SessionRefusal(
            "400, malformed", .refused, 400, "\(prefix)invalid or Malformed Json Received", .gatewayRefused,
            "check displayName, initiative and initiativeContext", .refusedByApple),
        SessionRefusal(
            "400 without a message", .refused, 400, nil, .gatewayRefused, "check displayName", .refusedByApple),
        SessionRefusal(
            "401", .unauthorized, 401, "\(prefix)Unauthorized", .gatewayUnauthorized, "sandbox environment",
            .refusedByApple),
        SessionRefusal("403", .forbidden, 403, nil, .gatewayUnauthorized, "sandbox environment", .refusedByApple),
        SessionRefusal(
            "417", .platformNotRegistered, 417, nil, .gatewayUnauthorized, "Apple Developer membership", .refusedByApple
        ),
        SessionRefusal(
            "the TLS handshake", .unauthorized, nil, nil, .gatewayUnauthorized, "has not revoked it", .refusedByApple),
        SessionRefusal("404", .notFound, 404, nil, .gatewayRefused, "check displayName", .refusedByApple),
        SessionRefusal("409", .conflict, 409, nil, .gatewayRefused, "check displayName", .refusedByApple),
        SessionRefusal("429", .rateLimited, 429, nil, .gatewayRateLimited, "", .appleUnavailable),
        SessionRefusal("500", .failedAtApple, 500, nil, .gatewayFailed, "", .appleUnavailable),
        SessionRefusal("200 with HTML", .unexpectedResponse, 200, nil, .gatewayFailed, "", .appleUnavailable),
        SessionRefusal("no connection", .unreachable, nil, nil, .gatewayUnavailable, "", .appleUnavailable),
        SessionRefusal("paused", .circuitOpen, nil, nil, .gatewayUnavailable, "", .appleUnavailable),
        SessionRefusal(
            "no response", .responseNotReceived, nil, nil, .gatewayResponseNotReceived, "request the session again",
            .appleUnavailable),
        SessionRefusal("untrusted server", .serverUntrusted, nil, nil, .gatewayUntrusted, "", .failed),
        SessionRefusal(
            "no identity", .identityUnusable, nil, nil, .sessionIdentityMissing, "the platform's identity certificate",
            .identityMissing),
    ]
}

@Suite struct SessionRefusalTests {
    private let bench = SessionBench()

    @Test(
        "each failed call has its error code and advice, and keeps Apple's correlation id",
        arguments: SessionRefusal.all)
    func refusal(_ refusal: SessionRefusal) async throws {
        try bench.addRegistration(desired: ["shop.example.com"])
        bench.gateway.error = refusal.error
        let error = try #require(await bench.requestSession(bench.order()))
        #expect(error.code == refusal.code)
        #expect(error.detail.contains("c-1"))
        #expect(refusal.advice.isEmpty || error.detail.contains(refusal.advice), "\(error.detail)")
        #expect(bench.count(.registered, refusal.outcome) == 1)
        #expect(bench.repository.audit.isEmpty)
    }

    @Test func `every kind of failure is tested`() {
        #expect(Set(SessionRefusal.all.map(\.error.kind)) == Set(GatewayError.Kind.allCases))
    }

    @Test func `errors.md has the error code of each failed call to Apple`() throws {
        let url = OpenAPIDocument.url.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/errors.md")
        let text = try String(contentsOf: url, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Merchant sessions\n").dropFirst().first)
            .components(separatedBy: "\n## ")[0]
        let table = try #require(section.components(separatedBy: "| Apple's response |").last)
        let documented = Set(table.matches(of: /\| `([A-Za-z]+)` \|/).map { String($0.1) })
        let codes = Set(SessionRefusal.all.map(\.code)).subtracting([.sessionIdentityMissing])
        #expect(documented == Set(codes.map(\.rawValue)))
    }

    @Test func `the error for a merchant with its own identity names this identity`() async throws {
        try bench.addMerchant()
        bench.gateway.error = GatewayError(.unauthorized, "Apple refused", status: 401, mayHaveActed: false)
        let error = try #require(await bench.requestSession(bench.order(for: .own(SessionBench.merchant))))
        #expect(error.detail.contains("identity certificate of merchant.com.example.shop"))
    }

    @Test func `after a lost response, the session can be requested again in a second`() async throws {
        try bench.addRegistration(desired: ["shop.example.com"])
        bench.gateway.error = GatewayError(.responseNotReceived, "no response within 7 s", mayHaveActed: false)
        #expect(await bench.requestSession(bench.order())?.retryAfter == 1)
    }
}
