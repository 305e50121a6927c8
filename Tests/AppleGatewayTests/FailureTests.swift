import AppleGateway
import Foundation
import MerchantCore
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// Faults of Apple's gateway, and the errors that the client reports.
@Suite struct FailureTests {
    let fixture: GatewayFixture
    let partner: PartnerInternalMerchantIdentifier

    init() throws {
        fixture = try GatewayFixture.shared.get()
        partner = try #require(PartnerInternalMerchantIdentifier("shop-1"))
    }

    /// The errors of `register` and `details` while the gateway has the fault; nil if the call succeeds.
    struct Expected: Sendable {
        let fault: GatewayFault.Kind
        let register: GatewayError.Kind?
        let details: GatewayError.Kind?
    }

    static let table: [Expected] = [
        .init(fault: .status401, register: .unauthorized, details: .unauthorized),
        .init(fault: .status403, register: .unauthorized, details: .unauthorized),
        .init(fault: .status417, register: .platformNotRegistered, details: .platformNotRegistered),
        .init(fault: .status429, register: .rateLimited, details: .rateLimited),
        .init(fault: .status500, register: .failedAtApple, details: .failedAtApple),
        .init(fault: .status500AfterActing, register: .failedAtApple, details: .failedAtApple),
        .init(fault: .malformed, register: .unexpectedResponse, details: .unexpectedResponse),
        // Register and unregister expect an empty response.
        .init(fault: .empty, register: nil, details: .unexpectedResponse),
        .init(fault: .large, register: .unexpectedResponse, details: .unexpectedResponse),
        .init(fault: .html, register: .unexpectedResponse, details: .unexpectedResponse),
        // The body of a registration's response is empty, so no byte is late.
        .init(fault: .trickle, register: nil, details: .responseNotReceived),
        .init(fault: .redirect, register: .unexpectedResponse, details: .unexpectedResponse),
        .init(fault: .reset, register: .responseNotReceived, details: .responseNotReceived),
        .init(fault: .resetAfterActing, register: .responseNotReceived, details: .responseNotReceived),
        .init(fault: .answerLost, register: .responseNotReceived, details: .responseNotReceived),
        .init(fault: .hang, register: .responseNotReceived, details: .responseNotReceived),
        .init(fault: .slow, register: .responseNotReceived, details: .responseNotReceived),
    ]

    @Test func `every fault of the sandbox has a row in the table`() {
        #expect(Set(Self.table.map(\.fault)) == Set(GatewayFault.Kind.allCases))
    }

    @Test(arguments: table.indices)
    func `each fault causes its error, and if Apple acted, the error says that Apple may have acted`(row: Int)
        async throws
    {
        let expected = Self.table[row]
        let faults = [GatewayFault(expected.fault)]
        try await withSandbox(fixture, faults: faults) { sandbox in
            let gateway = try fixture.gateway(sandbox.url, fixture.files("good"), responseTimeout: .seconds(1))
            try await withGateway(gateway) { gateway in
                let request = try GatewayRegistration.sample(partner.rawValue)
                let found = await failure { () throws(GatewayError) in try await gateway.register(request) }
                #expect(found?.kind == expected.register, "\(String(describing: found))")
                let acted = !sandbox.registrations.merchants.isEmpty
                if acted, let found { #expect(found.mayHaveActed, "\(found)") }
                if found == nil { #expect(acted) }
                let read = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(read?.kind == expected.details, "\(String(describing: read))")
                #expect(read?.mayHaveActed != true)
                // The gateway works again once the fault is gone.
                sandbox.faults.replace([])
                try await gateway.register(request)
                #expect(try await gateway.details(of: partner) != nil)
            }
        }
    }

    @Test func `a slow response within the timeout is accepted`() async throws {
        try await withSandbox(fixture, faults: [GatewayFault(.slow)], slowness: .milliseconds(200)) { sandbox in
            try await withGateway(fixture.gateway(sandbox.url, fixture.files("good"))) { gateway in
                _ = try await gateway.register(.sample(partner.rawValue))
            }
        }
    }

    @Test func `register and details are repeated; unregister is repeated only if it certainly did nothing`()
        async throws
    {
        try await withSandbox(fixture) { sandbox in
            let waits = Guarded<[Duration]>([])
            let gateway = try fixture.gateway(sandbox.url, fixture.files("good"), attempts: 3, waits: waits)
            try await withGateway(gateway) { gateway in
                sandbox.faults.replace([GatewayFault(.answerLost, remaining: 2)])
                try await gateway.register(.sample(partner.rawValue, ["a.example.com", "b.example.com"]))
                #expect(sandbox.tally.calls(.registerMerchant) == 3)
                sandbox.faults.replace([GatewayFault(.status500, remaining: 2)])
                #expect(try await gateway.details(of: partner)?.domainNames.count == 2)
                #expect(sandbox.tally.calls(.getDetails) == 3)
                #expect(waits.value.count == 4)
                #expect(waits.value.allSatisfy { $0 >= .milliseconds(250) && $0 <= .seconds(1) }, "\(waits.value)")

                sandbox.faults.replace([GatewayFault(.answerLost, remaining: 1)])
                let name = try DomainName.sample("a.example.com")
                let lost = await failure { () throws(GatewayError) in
                    try await gateway.unregister(partner, domainNames: [name], reason: "moved")
                }
                #expect(lost?.kind == .responseNotReceived)
                #expect(lost?.mayHaveActed == true)
                #expect(sandbox.tally.calls(.unregisterMerchant) == 1)
                sandbox.faults.replace([GatewayFault(.status429, remaining: 1)])
                let other = try DomainName.sample("b.example.com")
                try await gateway.unregister(partner, domainNames: [other], reason: "moved")
                #expect(sandbox.tally.calls(.unregisterMerchant) == 3)
            }
        }
    }

    @Test func `an uncertain attempt stays uncertain after any later response`() async throws {
        try await withSandbox(fixture) { sandbox in
            let gateway = try fixture.gateway(sandbox.url, fixture.files("good"), attempts: 3, waits: Guarded([]))
            try await withGateway(gateway) { gateway in
                let request = try GatewayRegistration.sample(partner.rawValue)
                #expect(try await gateway.register(request).anotherAttemptMayArrive == false)
                sandbox.faults.replace([GatewayFault(.status429, remaining: 1)])
                #expect(try await gateway.register(request).anotherAttemptMayArrive == false)
                sandbox.faults.replace([GatewayFault(.answerLost, remaining: 1)])
                #expect(try await gateway.register(request).anotherAttemptMayArrive == true)
                for last in [GatewayFault.Kind.status401, .status417, .redirect, .malformed] {
                    sandbox.faults.replace([GatewayFault(.resetAfterActing, remaining: 1), GatewayFault(last)])
                    let found = await failure { () throws(GatewayError) in _ = try await gateway.register(request) }
                    #expect(found?.uncertainAttempts == ([.redirect, .malformed].contains(last) ? 2 : 1), "\(last)")
                }
                sandbox.faults.replace([GatewayFault(.answerLost)])
                let lost = await failure { () throws(GatewayError) in _ = try await gateway.register(request) }
                #expect(lost?.uncertainAttempts == 3)
            }
        }
    }

    @Test func `a call that keeps failing ends after three attempts with the fault's own error`() async throws {
        try await withSandbox(fixture, faults: [GatewayFault(.status500)]) { sandbox in
            let gateway = try fixture.gateway(sandbox.url, fixture.files("good"), attempts: 3, waits: Guarded([]))
            try await withGateway(gateway) { gateway in
                let found = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(found?.kind == .failedAtApple)
                #expect(sandbox.tally.calls(.getDetails) == 3)
            }
        }
    }

    @Test func `a pause that Apple asks for applies to every caller, and a long one is reported without waiting`()
        async throws
    {
        let asked = Guarded("7")
        let calls = Guarded(0)
        try await withSite(fixture) { _ in
            calls.update { number in
                number += 1
                return number
            } == 1
                ? .answer(429, ["Retry-After": asked.value], Array(#"{"statusCode":429}"#.utf8)) : .answer(200, [:], [])
        } _: { site in
            let clock = HandMovedClock(.now)
            let waits = Guarded<[Duration]>([])
            let gateway = try fixture.gateway(
                "https://localhost:\(site.port)", fixture.files("good"), attempts: 2, clock: clock, waits: waits)
            try await withGateway(gateway) { gateway in
                try await gateway.register(.sample())
                #expect(waits.value.count == 1)
                #expect(waits.value.allSatisfy { $0 >= .seconds(7) && $0 < .seconds(8) }, "\(waits.value)")

                (asked.value, calls.value) = ("3600", 0)
                let request = try GatewayRegistration.sample()
                let limited = await failure { () throws(GatewayError) in try await gateway.register(request) }
                #expect(limited?.kind == .rateLimited)
                #expect(limited?.retryAfter == 3600)
                #expect(limited?.mayHaveActed == false)
                // The next caller sends no request.
                let next = await failure { () throws(GatewayError) in try await gateway.register(request) }
                #expect(next?.kind == .rateLimited)
                #expect(calls.value == 1)
                clock.advance(by: .seconds(3600))
                try await gateway.register(request)
            }
        }
    }

    @Test func `ten failures in a row open the circuit, health reports it, and one successful probe closes it`()
        async throws
    {
        try await withSandbox(fixture, faults: [GatewayFault(.status500)]) { sandbox in
            let clock = HandMovedClock(.now)
            let gateway = try fixture.gateway(sandbox.url, fixture.files("good"), clock: clock)
            try await withGateway(gateway) { gateway in
                func detailsFailure() async -> GatewayError.Kind? {
                    await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }?.kind
                }
                for _ in 0..<10 { #expect(await detailsFailure() == .failedAtApple) }
                guard case .circuitOpen(let until, let last) = gateway.health else {
                    Issue.record("\(gateway.health)")
                    return
                }
                #expect(until == clock.now.adding(.seconds(30)))
                #expect(last.contains("failedAtApple"))
                let refused = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(refused?.kind == .circuitOpen)
                #expect(refused?.retryAfter == 30)
                #expect(sandbox.tally.calls(.getDetails) == 10)
                // The probe fails: the pause doubles.
                clock.advance(by: .seconds(30))
                #expect(await detailsFailure() == .failedAtApple)
                #expect(await detailsFailure() == .circuitOpen)
                #expect(sandbox.tally.calls(.getDetails) == 11)
                clock.advance(by: .seconds(59))
                #expect(await detailsFailure() == .circuitOpen)
                clock.advance(by: .seconds(1))
                sandbox.faults.replace([])
                #expect(await detailsFailure() == nil)
                #expect(gateway.health == .available)
            }
        }
    }

    @Test(arguments: [
        (#"{"statusMessage": "m", "statusCode": "400"}"#, "'m'"), (#"{"errorMessage": "m", "statusCode": 400}"#, "'m'"),
        (#"{"errorMessage": "m", "statusCode": 401, "subStatusCode": 3}"#, "statusCode 401"), ("", "status 400"),
        ("<html>Bad Request</html>", "status 400"), ("[1]", "status 400"),
    ])
    func `the error for status 400 quotes the body if it is readable`(body: String, words: String) async throws {
        try await withSite(fixture) { _ in
            .answer(400, [:], Array(body.utf8))
        } _: { site in
            let url = "https://localhost:\(site.port)"
            try await withGateway(fixture.gateway(url, fixture.files("good"))) { gateway in
                let request = try GatewayRegistration.sample()
                let found = await failure { () throws(GatewayError) in try await gateway.register(request) }
                #expect(found?.kind == .refused)
                #expect(found?.detail.contains(words) == true, "\(String(describing: found))")
                #expect(try await gateway.details(of: partner) == nil)
            }
        }
    }

    @Test func `a proxy's error about certificates is not reported as an unknown merchant`() async throws {
        let page = "<html><h1>400 Bad Request</h1>No required SSL certificate was sent</html>"
        try await withSite(fixture) { _ in
            .answer(400, [:], Array(page.utf8))
        } _: { site in
            let url = "https://localhost:\(site.port)"
            try await withGateway(fixture.gateway(url, fixture.files("good"))) { gateway in
                let found = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(found?.kind == .unauthorized)
            }
        }
    }

    @Test(arguments: [
        #"{"domainNames": "shop.example.com", "encryptTo": "AB", "partnerMerchantName": "n"}"#,
        #"{"encryptTo": "AB", "partnerMerchantName": "n"}"#, "[]", "<html></html>",
        #"{"domainNames": [], "encryptTo": "A", "partnerMerchantName": "", "partnerInternalMerchantIdentifier": "other"}"#,
    ])
    func `a response that is not MerchantDetails is refused`(body: String) async throws {
        try await withSite(fixture) { _ in
            .answer(200, [:], Array(body.utf8))
        } _: { site in
            let url = "https://localhost:\(site.port)"
            try await withGateway(fixture.gateway(url, fixture.files("good"))) { gateway in
                let found = await failure { () throws(GatewayError) in _ = try await gateway.details(of: partner) }
                #expect(found?.kind == .unexpectedResponse, "\(String(describing: found))")
                #expect(found?.status == 200)
            }
        }
    }

    @Test(arguments: [
        "http://localhost", "localhost", "https://", "https://user@localhost", "https://localhost?x", "https://a b", "",
    ])
    func `an invalid gateway URL is refused`(text: String) {
        #expect(throws: GatewayEndpointError.self) { try GatewayEndpoint(text) }
    }
}
