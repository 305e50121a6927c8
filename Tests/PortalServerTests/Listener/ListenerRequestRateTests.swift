import MerchantTestSupport
import PortalServer
import ServerKit
import Testing

@Suite struct ListenerRequestRateTests {
    private let time = Guarded(ContinuousClock.now)

    private func rates(_ limits: RequestRates.Limits) -> RequestRates { RequestRates(limits) { [time] in time.value } }

    private static func limits(perMinute: Int, burst: Int, entries: Int = 10_000) -> RequestRates.Limits {
        var limits = RequestRates.Limits()
        let rate = RequestRates.Rate(perMinute: perMinute, burst: burst)
        limits.caller = rate
        limits.address = rate
        limits.failedAuthentication = rate
        limits.maximumEntries = entries
        return limits
    }

    @Test("a caller may send a burst and then requests at its rate; a refusal has the seconds to wait")
    func caller() {
        let rates = rates(Self.limits(perMinute: 6, burst: 3))
        #expect((0..<3).allSatisfy { _ in rates.count(caller: "a") == nil })
        #expect(rates.count(caller: "a") == 10)
        #expect(rates.count(caller: "b") == nil, "each caller has its own rate")
        time.value += .seconds(9)
        #expect(rates.count(caller: "a") == 1)
        time.value += .seconds(1)
        #expect(rates.count(caller: "a") == nil)
        #expect(rates.count(caller: "a") == 10)
        time.value += .seconds(3600)
        #expect((0..<3).allSatisfy { _ in rates.count(caller: "a") == nil })
        #expect(rates.count(caller: "a") != nil, "time without requests does not add up beyond the burst")
    }

    @Test("the addresses of one IPv6 network share a rate")
    func addresses() throws {
        let rates = rates(Self.limits(perMinute: 60, burst: 1))
        let waits = try ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "192.0.2.1"].map { text -> Int? in
            rates.count(address: try #require(RemoteAddress(text)))
        }
        #expect(waits == [nil, 1, nil, nil])
    }

    @Test("an address that sent wrong credentials too often has to wait")
    func failures() throws {
        let rates = rates(Self.limits(perMinute: 6, burst: 2))
        let address = try #require(RemoteAddress("192.0.2.1"))
        let other = try #require(RemoteAddress("192.0.2.2"))
        for _ in 0..<2 {
            #expect(rates.waitAfterFailedAuthentications(of: address) == nil)
            rates.countFailedAuthentication(of: address)
        }
        #expect(rates.waitAfterFailedAuthentications(of: address) == 10)
        #expect(rates.waitAfterFailedAuthentications(of: address) == 10, "asking does not count")
        #expect(rates.waitAfterFailedAuthentications(of: other) == nil)
        time.value += .seconds(10)
        #expect(rates.waitAfterFailedAuthentications(of: address) == nil)
    }

    @Test("a burst of refusals of an address is sent at once; refusals above the rate are delayed")
    func refusals() throws {
        var limits = RequestRates.Limits()
        limits.promptRefusals = RequestRates.Rate(perMinute: 60, burst: 2)
        let rates = rates(limits)
        let address = try #require(RemoteAddress("192.0.2.1"))
        let other = try #require(RemoteAddress("192.0.2.2"))
        let delays = (0..<3).map { _ in rates.delay(ofRefusalFor: address) }
        #expect(delays == [nil, nil, limits.refusalDelay])
        #expect(rates.delay(ofRefusalFor: other) == nil)
        time.value += .seconds(1)
        #expect(rates.delay(ofRefusalFor: address) == nil)
    }

    @Test("with too many callers, those that were counted longest ago are forgotten first")
    func bounded() {
        let rates = rates(Self.limits(perMinute: 1, burst: 1, entries: 100))
        #expect(rates.count(caller: "busy") == nil)
        for number in 0..<1000 {
            #expect(rates.count(caller: "caller \(number)") == nil)
            if number % 20 == 0 { #expect(rates.count(caller: "busy") != nil, "a caller in use is not forgotten") }
        }
        #expect(rates.count(caller: "caller 999") != nil)
        #expect(rates.count(caller: "caller 0") == nil, "forgotten, so its bucket is full again")
    }
}
