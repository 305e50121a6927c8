import EventDelivery
import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

@Suite("Webhooks", .enabled(if: Receiver.isAvailable, "needs Python"))
struct DeliveryTests {
    let fixture: DeliveryFixture
    let receiver: Receiver

    init() throws {
        fixture = try DeliveryFixture()
        receiver = try Receiver()
    }

    /// Sequence numbers of the accepted deliveries (status 2xx) by merchant, by time of arrival.
    private func accepted() -> [String?: [Int]] {
        Dictionary(grouping: receiver.deliveries.filter { ["ok", "slow", "flood"].contains($0.mode) }, by: \.merchant)
            .mapValues { $0.map(\.sequence) }
    }

    private func isDelivered() throws -> Bool { try fixture.state?.undelivered == 0 }

    @Test("every event arrives once, signed, by sequence for each merchant, at the path and host of the settings")
    func delivered() async throws {
        let hook = try fixture.webhook(receiver)
        try await fixture.append(.keyPromoted, 7)
        try await fixture.delivering(to: [hook]) { [fixture] in
            for _ in 0..<5 { try await fixture.append(.keyPromoted, 1, 2, nil, 1, 3) }
            try await fixture.until("delivery") { try isDelivered() }
        }
        let got = receiver.deliveries
        // An event from before the webhook was added is not delivered to it.
        #expect(got.count == 25 && got.allSatisfy(\.isValid), "\(got.count)")
        #expect(Set(got.map(\.sequence)) == Set(2...26) && Set(got.map(\.id)).count == 25)
        for (merchant, sequences) in accepted() { #expect(sequences == sequences.sorted(), "\(merchant ?? "none")") }
        #expect(got.allSatisfy { $0.path == "/events?token=hidden" && $0.mediaType == "application/json" })
        #expect(got.allSatisfy { $0.host == "localhost:\(receiver.port)" })
        let seconds = fixture.clock.now.millisecondsSince1970 / 1000
        #expect(got.allSatisfy { $0.signature.wholeMatch(of: /t=([0-9]+),v1=[0-9a-f]{64}/)?.1 == "\(seconds)" })
        #expect(try fixture.state?.lastDelivered == fixture.clock.now && fixture.state?.lastFailure == nil)
    }

    @Test(
        "a receiver that fails, hangs, resets, is absent, redirects and floods finally receives every event by sequence"
    )
    func trouble() async throws {
        let hook = try fixture.webhook(receiver)
        try await fixture.delivering(to: [hook], attempt: .milliseconds(600)) { [fixture, receiver] in
            for mode in ["fail", "hang", "reset", "gone", "redirect"] {
                if mode == "gone" { receiver.stop() } else { try receiver.mode(mode) }
                try await fixture.append(.keyRevoked, 1, 2, 1)
                let reasons = [
                    "fail": "500", "hang": "no response", "reset": "reset", "redirect": "302", "gone": "refused",
                ]
                try await fixture.until("failure by \(mode)", step: .seconds(20)) {
                    try fixture.state?.lastFailure?.contains(try #require(reasons[mode])) == true
                }
                if mode == "gone" { try receiver.start() }
            }
            try receiver.mode("flood")
            try await fixture.append(.keyRevoked, 1, 2, 1)
            try await fixture.until("delivery of some", step: .seconds(301)) {
                try fixture.state?.undelivered ?? 99 < 12
            }
            try receiver.mode("ok")
            try await fixture.until("delivery of all", step: .seconds(301)) { try isDelivered() }
        }
        let accepted = accepted()
        for number in 1...2 {
            let sequences = try #require(accepted[DeliveryFixture.merchant(number).rawValue])
            #expect(sequences == sequences.sorted(), "merchant \(number): \(sequences)")
            #expect(Set(sequences).count == (number == 1 ? 12 : 6))
        }
        #expect(receiver.deliveries.allSatisfy { $0.isValid })
        #expect(receiver.deliveries.allSatisfy { $0.path == "/events?token=hidden" }, "a redirect was followed")
        let state = try #require(try fixture.state)
        #expect(state.parked == 0 && state.lastFailure?.contains("token") == false)
    }

    @Test("failing events of one merchant do not delay those of others, and its own keep their sequence")
    func oneLane() async throws {
        let hook = try fixture.webhook(receiver)
        let failing = try DeliveryFixture.merchant(1).rawValue
        try receiver.mode("fail \(failing)")
        try await fixture.delivering(to: [hook]) { [fixture] in
            try await fixture.append(.keyPromoted, 1, 2, 1, 3, 2, 1)
            try await fixture.until("delivery of the others") { try fixture.state?.undelivered == 3 }
            // Later events are delivered too. No failed delivery is repeated, because the clock stands still.
            try await fixture.append(.keyPromoted, 2, 4)
            try await fixture.until("delivery of the others") { try fixture.state?.undelivered == 3 }
            #expect(Set(receiver.deliveries.filter { $0.merchant == failing }.map(\.sequence)) == [1])
            try receiver.mode("ok")
            try await fixture.until("delivery of all", step: .seconds(301)) { try isDelivered() }
        }
        #expect(accepted()[failing] == [1, 3, 6])
    }

    @Test("after 24 hours of failures an event is parked and reported, later events follow, and it can be sent again")
    func parked() async throws {
        let hook = try fixture.webhook(receiver)
        let request = Request(caller: Caller(uid: 0, gid: 0, pid: 1, program: "test"), requestId: "r")
        try receiver.mode("fail")
        try await fixture.delivering(to: [hook]) { [fixture, receiver] in
            try await fixture.append(.keyPromoted, 1)
            let begin = fixture.clock.now
            try await fixture.until("a day of failures", step: .seconds(1_200)) { try fixture.state?.parked == 1 }
            let hours = (fixture.clock.now.millisecondsSince1970 - begin.millisecondsSince1970) / 3_600_000
            // The test advances the clock while an attempt runs. On a loaded machine, the clock advances further.
            #expect((24...48).contains(hours), "parked after \(hours) hours")
            #expect(receiver.deliveries.count > 20)
            let finding = try await fixture.operations.monitoring.status().findings.first { $0.code == .eventsParked }
            #expect(finding?.severity == .warning && finding?.detail.contains("hook") == true)
            try receiver.mode("ok")
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("delivery of the next") { try isDelivered() }
            #expect(try fixture.state?.parked == 1)
            for (sequence, name) in [(2, "hook"), (1, "nobody")] {
                await #expect(throws: MerchantError.self) {
                    _ = try await fixture.operations.events.redeliver(sequence, to: name, for: request)
                }
            }
            #expect(try await fixture.operations.events.redeliver(nil, to: nil, for: request) == 1)
            try await fixture.until("delivery of what was parked") { try fixture.state?.parked == 0 && isDelivered() }
        }
        #expect(accepted().values.first == [2, 1])
        let audit = try await fixture.operations.audit.auditRecords(
            AuditFilter(), from: nil, oldestFirst: false, limit: 1)
        #expect(audit.first?.entry.action == .eventsRedelivered)
    }

    @Test("events left at a shutdown are delivered after the next start, and an interrupted attempt is repeated")
    func restarted() async throws {
        let hook = try fixture.webhook(receiver)
        try receiver.mode("hang")
        try await fixture.delivering(to: [hook]) { [fixture, receiver] in
            try await fixture.append(.keyPromoted, 1, 1)
            try await fixture.until("the first attempt") { receiver.deliveries.count == 1 }
        }
        #expect(try fixture.state?.undelivered == 2 && fixture.state?.lastFailure == nil)
        try receiver.mode("ok")
        try await fixture.delivering(to: [hook]) { [fixture] in
            try await fixture.until("delivery") { try isDelivered() }
        }
        #expect(accepted().values.first == [1, 2])
    }

    @Test(
        "a webhook receives only its kinds, and one that was removed and added again receives what was left before its removal"
    )
    func kinds() async throws {
        let hook = try fixture.webhook(receiver, kinds: [.keyRevoked, .belowTarget])
        try await fixture.delivering(to: [hook]) { [fixture] in
            try await fixture.append(.keyPromoted, 1)
            try await fixture.append(.keyRevoked, 1)
            try await fixture.append(.certificateStored, 1)
            try await fixture.append(.belowTarget, nil)
            try await fixture.until("delivery") { try receiver.deliveries.count == 2 && isDelivered() }
        }
        try await fixture.append(.keyRevoked, 1)
        try await fixture.operations.deliveries.setWebhooks([])
        try await fixture.append(.keyRevoked, 1)
        #expect(try fixture.state == nil)
        try await fixture.delivering(to: [hook]) { [fixture] in
            try await fixture.until("delivery") { try isDelivered() }
        }
        #expect(receiver.deliveries.map(\.sequence).sorted() == [2, 4, 5])
    }

    @Test(
        "a changed secret takes effect at the next delivery, two secrets make two signatures, and without one nothing is sent"
    )
    func secrets() async throws {
        let hook = try fixture.webhook(receiver)
        try await fixture.delivering(to: [hook]) { [fixture, receiver] in
            for (count, secret) in ["\(Receiver.secret)\nanother secret, long enough", "another secret, long enough"]
                .enumerated()
            {
                try receiver.write(secret, "secret")
                try await fixture.append(.keyPromoted, 1)
                try await fixture.until("delivery") { try isDelivered() }
                #expect(receiver.deliveries.count == count + 1 && receiver.deliveries.allSatisfy(\.isValid))
            }
            try receiver.write("short", "secret")
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("failure") { try fixture.state?.lastFailure?.contains("16 to 1024") == true }
        }
        #expect(receiver.deliveries.map { $0.signature.split(separator: ",").count } == [3, 2])
    }

    @Test("a name with an internal address gets no connection, a server with an untrusted certificate no request")
    func refused() async throws {
        let inside = try fixture.webhook(receiver, name: "inside", allowsInternal: false)
        let untrusted = try fixture.webhook(receiver, name: "untrusted", trusts: false)
        let wrongName = try fixture.webhook(receiver, host: "localhost.localdomain", name: "wrong name")
        try await fixture.delivering(to: [inside, untrusted, wrongName]) { [fixture] in
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("failures") {
                try fixture.store.readNow { try $0.webhooks() }.allSatisfy { $0.lastFailure != nil }
            }
        }
        let states = try fixture.store.readNow { try $0.webhooks() }
        let failures = Dictionary(uniqueKeysWithValues: states.map { ($0.name, $0.lastFailure ?? "") })
        #expect(failures["inside"]?.contains("internal address") == true, "\(failures)")
        #expect(failures["untrusted"]?.contains("does not chain to a trusted root") == true, "\(failures)")
        #expect(receiver.deliveries.isEmpty)
    }
}
