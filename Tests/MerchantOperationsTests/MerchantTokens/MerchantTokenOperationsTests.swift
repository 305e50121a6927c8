import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite("Operations on merchant tokens") struct MerchantTokenOperationsTests {
    @Test(
        "an unlink calls Apple, stores the new state and is audited; a repeat makes no call",
        arguments: TokenBench.Store.allCases)
    func unlink(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        try await bench.pay("t-1")
        let tokens = bench.operations.merchantTokens
        #expect(try await tokens.unlink(tokenName("t-1"), for: bench.request).state == .unlinked)
        #expect(bench.gateway.calls == [.unlink(tokenName("t-1"), Bench.integrator, .platform)])
        #expect(try await bench.actions().last == .merchantTokenUnlinked)
        #expect(try await tokens.unlink(tokenName("t-1"), for: bench.request).state == .unlinked)
        #expect(bench.gateway.calls.count == 1)
    }

    @Test("an unlink without a response changes nothing, and can be repeated")
    func lostResponse() async throws {
        let failures = ChangingValue(GatewayError.Kind?.some(.responseNotReceived))
        let bench = try await TokenBench(gateway: ScriptedMerchantTokenGateway { _ in failures.current.value })
        try await bench.pay("t-1")
        let tokens = bench.operations.merchantTokens
        let error = await refusal { _ = try await tokens.unlink(tokenName("t-1"), for: bench.request) }
        #expect(error?.code == .gatewayResponseNotReceived)
        #expect(try await tokens.token(tokenName("t-1")).state == .linked)
        failures.change(to: nil)
        #expect(try await tokens.unlink(tokenName("t-1"), for: bench.request).state == .unlinked)
    }

    @Test("operations on an unknown token fail without a call")
    func unknown() async throws {
        let bench = try await TokenBench()
        let tokens = bench.operations.merchantTokens
        for operation: @Sendable () async throws -> Void in [
            { _ = try await tokens.token(tokenName("t-1")) },
            { _ = try await tokens.unlink(tokenName("t-1"), for: bench.request) },
            { _ = try await tokens.publicKey(of: tokenName("t-1")) },
            { try await tokens.notifyUsageInformation(of: tokenName("t-1"), for: bench.request) },
            { _ = try await tokens.setNotificationURL("https://a.example", of: tokenName("t-1"), for: bench.request) },
        ] {
            #expect(await refusal(operation)?.code == .merchantTokenNotFound)
        }
        #expect(bench.gateway.calls == [])
    }

    @Test("for an unlinked token, every operation that would call Apple is refused")
    func unlinked() async throws {
        let bench = try await TokenBench()
        try await bench.pay("t-1")
        let tokens = bench.operations.merchantTokens
        _ = try await tokens.unlink(tokenName("t-1"), for: bench.request)
        for operation: @Sendable () async throws -> Void in [
            { _ = try await tokens.publicKey(of: tokenName("t-1")) },
            { try await tokens.notifyUsageInformation(of: tokenName("t-1"), for: bench.request) },
            { _ = try await tokens.setNotificationURL("https://a.example", of: tokenName("t-1"), for: bench.request) },
        ] {
            #expect(await refusal(operation)?.code == .merchantTokenStateConflict)
        }
        #expect(bench.gateway.calls.count == 1)
    }

    @Test("a notification URL is sent to Apple, stored and audited", arguments: TokenBench.Store.allCases)
    func notificationURL(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        try await bench.pay("t-1")
        let url = "https://pay.example.com:8443/tokenapi/abc"
        let token = try await bench.operations.merchantTokens.setNotificationURL(
            url, of: tokenName("t-1"), for: bench.request)
        #expect(token.notificationURL == url)
        #expect(try await bench.token("t-1")?.notificationURL == url)
        #expect(bench.gateway.calls == [.setNotificationURL(url, tokenName("t-1"))])
        #expect(try await bench.actions().last == .merchantTokenNotificationURLChanged)
    }

    @Test(
        "a notification URL that is invalid, too long or not https, or to which Apple cannot append a path, is refused",
        arguments: [
            "", "https://", "http://a.example", "ftp://a.example", "https:a.example", "//a.example", "https:///path",
            "https://user@a.example", "https://user:secret@a.example", "https://a.example?x=1", "https://a.example#x",
            "https://a.example/a b", "https://a.example/\u{7F}", "https://ä.example", "https://a.example:x",
            "https://a.example:", "https://a.example\\b", "https://" + String(repeating: "a", count: 249),
        ])
    func badURL(_ url: String) async throws {
        let bench = try await TokenBench()
        try await bench.pay("t-1")
        let error = await refusal {
            _ = try await bench.operations.merchantTokens.setNotificationURL(
                url, of: tokenName("t-1"), for: bench.request)
        }
        #expect(error?.code == .malformed)
        #expect(bench.gateway.calls == [])
    }

    @Test("the public key is Apple's; before Apple has generated it, the error says so")
    func publicKey() async throws {
        let bench = try await TokenBench()
        try await bench.pay("t-1")
        let tokens = bench.operations.merchantTokens
        #expect(
            await refusal { _ = try await tokens.publicKey(of: tokenName("t-1")) }?.code == .merchantTokenKeyNotReady)
        let key = MerchantTokenPublicKey(
            x963: [4] + Array(repeating: 7, count: 96), ciphersuite: "HPKE_AUTH_P384_SHA384_AES_GCM_256")
        bench.gateway.publicKey = key
        #expect(try await tokens.publicKey(of: tokenName("t-1")) == key)
    }

    @Test(
        "a failed call to Apple has the error code of its cause, and is not audited",
        arguments: [
            (GatewayError.Kind.notFound, MerchantError.Code.merchantTokenNotFound),
            (.conflict, .merchantTokenStateConflict),
            (.forbidden, .gatewayUnauthorized), (.refused, .gatewayRefused), (.identityUnusable, .gatewayNotConfigured),
            (.circuitOpen, .gatewayUnavailable),
        ])
    func refusals(_ refused: (kind: GatewayError.Kind, code: MerchantError.Code)) async throws {
        let bench = try await TokenBench(gateway: ScriptedMerchantTokenGateway { _ in refused.kind })
        try await bench.pay("t-1")
        let before = try await bench.actions()
        let error = await refusal {
            try await bench.operations.merchantTokens.notifyUsageInformation(
                of: tokenName("t-1"), for: bench.request)
        }
        #expect(error?.code == refused.code)
        #expect(try await bench.actions() == before)
    }

    @Test("a request that is repeated with its Idempotency-Key creates one notification path")
    func idempotency() async throws {
        let bench = try await TokenBench()
        let request = Request(
            caller: Bench.caller, requestId: "r-2",
            idempotency: try Request.Idempotency(
                fieldValues: ["key-1"], caller: Bench.caller, operation: "POST /v1/x", body: []))
        let tokens = bench.operations.merchantTokens
        let first = try await tokens.createNotificationPath(for: Bench.shop, for: request)
        #expect(try await tokens.createNotificationPath(for: Bench.shop, for: request) == first)
        #expect(try await tokens.notificationPaths(of: Bench.shop) == [first])
    }

    @Test("a merchant has at most 100 notification paths")
    func limit() async throws {
        let bench = try await TokenBench()
        let tokens = bench.operations.merchantTokens
        for _ in 0..<MerchantTokenOperations.maximumNotificationPaths {
            _ = try await tokens.createNotificationPath(for: Bench.shop, for: bench.request)
        }
        let error = await refusal { _ = try await tokens.createNotificationPath(for: Bench.shop, for: bench.request) }
        #expect(error?.code == .merchantTokenStateConflict)
    }

    @Test(
        "the merchant token of a payment is recorded; a later payment changes only the time of its last use",
        arguments: TokenBench.Store.allCases)
    func payments(_ store: TokenBench.Store) async throws {
        let bench = try await TokenBench(store)
        let start = bench.clock.now
        try await bench.pay("t-1")
        bench.clock.advance(by: .seconds(60))
        try await bench.pay("t-1")
        let token = try #require(try await bench.token("t-1"))
        #expect(token.firstSeenAt == start && token.lastSeenAt == start.adding(.seconds(60)))
        #expect(token.merchantIdentifier == Bench.integrator && token.state == .linked)
        _ = try await bench.operations.merchantTokens.unlink(tokenName("t-1"), for: bench.request)
        try await bench.pay("t-1")
        #expect(try await bench.token("t-1")?.state == .unlinked)
    }

    @Test("payments with more merchant tokens than fit in memory are dropped, and the others are stored")
    func capacity() async throws {
        let bench = try await TokenBench()
        let payments = MerchantTokenPayments(isEnabled: true, metrics: bench.operations.merchantTokenMetrics)
        for number in 0..<MerchantTokenPayments.capacity + 10 {
            payments.record("t-\(number)", of: Bench.integrator, at: bench.clock.now)
        }
        payments.record(nil, of: Bench.integrator, at: bench.clock.now)
        payments.record("not a token", of: Bench.integrator, at: bench.clock.now)
        payments.record("t-removed", of: Bench.otherShop, at: bench.clock.now)
        let recording = MerchantTokenPaymentRecording(
            records: .init(bench.repository, reads: { _ in }, writes: { $0 }), payments: payments)
        #expect(try await recording.storePayments() == MerchantTokenPayments.capacity)
        #expect(try await recording.storePayments() == 0)
    }

    @Test("with record-payments false, nothing is recorded")
    func disabled() async throws {
        let bench = try await TokenBench()
        let payments = MerchantTokenPayments(isEnabled: false, metrics: bench.operations.merchantTokenMetrics)
        payments.record("t-1", of: Bench.integrator, at: bench.clock.now)
        let recording = MerchantTokenPaymentRecording(
            records: .init(bench.repository, reads: { _ in }, writes: { $0 }), payments: payments)
        #expect(try await recording.storePayments() == 0)
    }
}

extension TokenBench {
    /// Records a payment with a merchant token of the platform.
    fileprivate func pay(_ token: String) async throws {
        let payments = MerchantTokenPayments(isEnabled: true, metrics: operations.merchantTokenMetrics)
        payments.record(token, of: Bench.integrator, at: clock.now)
        try await MerchantTokenPaymentRecording(
            records: .init(repository, reads: { _ in }, writes: { $0 }), payments: payments
        ).storePayments()
    }
}
