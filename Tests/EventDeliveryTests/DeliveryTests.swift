import EventDelivery
import Foundation
import MerchantCore
import MerchantOperations
import SQLiteStore
import MerchantTestSupport
import Testing
import Vocabulary

@Suite("Webhooks", .enabled(if: Receiver.isAvailable, "needs Python"))
struct DeliveryTests {
    let stage: Stage
    let receiver: Receiver

    init() throws {
        stage = try Stage()
        receiver = try Receiver()
    }

    /// What was taken (answered with success) of each merchant, in the order it came.
    private func taken() -> [String?: [Int]] {
        Dictionary(grouping: receiver.got.filter { ["ok", "slow", "flood"].contains($0.mode) }, by: \.merchant)
            .mapValues { $0.map(\.sequence) }
    }

    private func isDelivered() throws -> Bool { try stage.state?.undelivered == 0 }

    @Test("every event comes once, signed, in order for each merchant, to the path and host of the settings")
    func delivered() async throws {
        let hook = try stage.webhook(receiver)
        try await stage.append(.keyPromoted, 7)
        try await stage.delivering(to: [hook]) { [stage] in
            for _ in 0..<5 { try await stage.append(.keyPromoted, 1, 2, nil, 1, 3) }
            try await stage.until("delivery") { try isDelivered() }
        }
        let got = receiver.got
        // The event before the webhook was there is not its.
        #expect(got.count == 25 && got.allSatisfy(\.isValid), "\(got.count)")
        #expect(Set(got.map(\.sequence)) == Set(2...26) && Set(got.map(\.id)).count == 25)
        for (merchant, sequences) in taken() { #expect(sequences == sequences.sorted(), "\(merchant ?? "none")") }
        #expect(got.allSatisfy { $0.path == "/events?token=hidden" && $0.mediaType == "application/json" })
        #expect(got.allSatisfy { $0.host == "localhost:\(receiver.port)" })
        let seconds = stage.clock.now.millisecondsSince1970 / 1000
        #expect(got.allSatisfy { $0.signature.wholeMatch(of: /t=([0-9]+),v1=[0-9a-f]{64}/)?.1 == "\(seconds)" })
        #expect(try stage.state?.lastDelivered == stage.clock.now && stage.state?.lastFailure == nil)
    }

    @Test("a receiver that fails, hangs, resets, is gone, redirects and floods gets every event in the end, in order")
    func trouble() async throws {
        let hook = try stage.webhook(receiver)
        try await stage.delivering(to: [hook], attempt: .milliseconds(600)) { [stage, receiver] in
            for mode in ["fail", "hang", "reset", "gone", "redirect"] {
                if mode == "gone" { receiver.stop() } else { try receiver.mode(mode) }
                try await stage.append(.keyRevoked, 1, 2, 1)
                let told = [
                    "fail": "500", "hang": "no answer", "reset": "reset", "redirect": "302", "gone": "refused",
                ]
                try await stage.until("failure by \(mode)", step: .seconds(20)) {
                    try stage.state?.lastFailure?.contains(try #require(told[mode])) == true
                }
                if mode == "gone" { try receiver.start() }
            }
            try receiver.mode("flood")
            try await stage.append(.keyRevoked, 1, 2, 1)
            try await stage.until("delivery of some", step: .seconds(301)) { try stage.state?.undelivered ?? 99 < 12 }
            try receiver.mode("ok")
            try await stage.until("delivery of all", step: .seconds(301)) { try isDelivered() }
        }
        let taken = taken()
        for number in 1...2 {
            let sequences = try #require(taken[Stage.merchant(number).rawValue])
            #expect(sequences == sequences.sorted(), "merchant \(number): \(sequences)")
            #expect(Set(sequences).count == (number == 1 ? 12 : 6))
        }
        #expect(receiver.got.allSatisfy { $0.isValid })
        #expect(receiver.got.allSatisfy { $0.path == "/events?token=hidden" }, "a redirect was followed")
        let state = try #require(try stage.state)
        #expect(state.parked == 0 && state.lastFailure?.contains("token") == false)
    }

    @Test("a merchant whose events fail holds up nobody else's, and its own stay in order")
    func oneLane() async throws {
        let hook = try stage.webhook(receiver)
        let poor = try Stage.merchant(1).rawValue
        try receiver.mode("fail \(poor)")
        try await stage.delivering(to: [hook]) { [stage] in
            try await stage.append(.keyPromoted, 1, 2, 1, 3, 2, 1)
            try await stage.until("delivery of the others") { try stage.state?.undelivered == 3 }
            // Later ones too, while the clock stands still and nothing is tried again.
            try await stage.append(.keyPromoted, 2, 4)
            try await stage.until("delivery of the others") { try stage.state?.undelivered == 3 }
            #expect(Set(receiver.got.filter { $0.merchant == poor }.map(\.sequence)) == [1])
            try receiver.mode("ok")
            try await stage.until("delivery of all", step: .seconds(301)) { try isDelivered() }
        }
        #expect(taken()[poor] == [1, 3, 6])
    }

    @Test("after 24 hours of failures an event is parked and said so, the order moves on, and it can be sent again")
    func parked() async throws {
        let hook = try stage.webhook(receiver)
        let request = Request(caller: Caller(uid: 0, gid: 0, pid: 1, program: "test"), requestId: "r")
        try receiver.mode("fail")
        try await stage.delivering(to: [hook]) { [stage, receiver] in
            try await stage.append(.keyPromoted, 1)
            let begin = stage.clock.now
            try await stage.until("a day of failures", step: .seconds(1_200)) { try stage.state?.parked == 1 }
            let hours = (stage.clock.now.millisecondsSince1970 - begin.millisecondsSince1970) / 3_600_000
            #expect((24...26).contains(hours), "parked after \(hours) hours")
            #expect(receiver.got.count > 20)
            let finding = try await stage.operations.monitoring.status().findings.first { $0.code == .eventsParked }
            #expect(finding?.severity == .warning && finding?.detail.contains("hook") == true)
            try receiver.mode("ok")
            try await stage.append(.keyPromoted, 1)
            try await stage.until("delivery of the next") { try isDelivered() }
            #expect(try stage.state?.parked == 1)
            for (sequence, name) in [(2, "hook"), (1, "nobody")] {
                await #expect(throws: MerchantError.self) {
                    _ = try await stage.operations.events.redeliver(sequence, to: name, for: request)
                }
            }
            #expect(try await stage.operations.events.redeliver(nil, to: nil, for: request) == 1)
            try await stage.until("delivery of what was parked") { try stage.state?.parked == 0 && isDelivered() }
        }
        #expect(taken().values.first == [2, 1])
        let audit = try await stage.operations.audit.auditRecords(
            AuditFilter(), from: nil, oldestFirst: false, limit: 1)
        #expect(audit.first?.entry.action == .eventsRedelivered)
    }

    @Test("what a stopped delivery left is delivered by the next, and what was under way comes again")
    func restarted() async throws {
        let hook = try stage.webhook(receiver)
        try receiver.mode("hang")
        try await stage.delivering(to: [hook]) { [stage, receiver] in
            try await stage.append(.keyPromoted, 1, 1)
            try await stage.until("the first attempt") { receiver.got.count == 1 }
        }
        #expect(try stage.state?.undelivered == 2 && stage.state?.lastFailure == nil)
        try receiver.mode("ok")
        try await stage.delivering(to: [hook]) { [stage] in
            try await stage.until("delivery") { try isDelivered() }
        }
        #expect(taken().values.first == [1, 2])
    }

    @Test(
        "a webhook gets the kinds it asked for, and one that was away gets nothing of its absence but what it missed before"
    )
    func kinds() async throws {
        let hook = try stage.webhook(receiver, kinds: [.keyRevoked, .belowTarget])
        try await stage.delivering(to: [hook]) { [stage] in
            try await stage.append(.keyPromoted, 1)
            try await stage.append(.keyRevoked, 1)
            try await stage.append(.certificateStored, 1)
            try await stage.append(.belowTarget, nil)
            try await stage.until("delivery") { try receiver.got.count == 2 && isDelivered() }
        }
        try await stage.append(.keyRevoked, 1)
        try await stage.operations.deliveries.keepWebhooks([])
        try await stage.append(.keyRevoked, 1)
        #expect(try stage.state == nil)
        try await stage.delivering(to: [hook]) { [stage] in
            try await stage.until("delivery") { try isDelivered() }
        }
        #expect(receiver.got.map(\.sequence).sorted() == [2, 4, 5])
    }

    @Test("a changed secret counts from the next delivery on, two at a time sign both, and without one nothing is sent")
    func secrets() async throws {
        let hook = try stage.webhook(receiver)
        try await stage.delivering(to: [hook]) { [stage, receiver] in
            for (count, secret) in ["\(Receiver.secret)\nanother secret, long enough", "another secret, long enough"]
                .enumerated()
            {
                try receiver.write(secret, "secret")
                try await stage.append(.keyPromoted, 1)
                try await stage.until("delivery") { try isDelivered() }
                #expect(receiver.got.count == count + 1 && receiver.got.allSatisfy(\.isValid))
            }
            try receiver.write("short", "secret")
            try await stage.append(.keyPromoted, 1)
            try await stage.until("failure") { try stage.state?.lastFailure?.contains("16 to 1024") == true }
        }
        #expect(receiver.got.map { $0.signature.split(separator: ",").count } == [3, 2])
    }

    @Test("a name that leads to an internal address is never connected to, nor one whose certificate is not trusted")
    func refused() async throws {
        let inside = try stage.webhook(receiver, name: "inside", allowsInternal: false)
        let untrusted = try stage.webhook(receiver, name: "untrusted", trusts: false)
        let wrongName = try stage.webhook(receiver, host: "localhost.localdomain", name: "wrong name")
        try await stage.delivering(to: [inside, untrusted, wrongName]) { [stage] in
            try await stage.append(.keyPromoted, 1)
            try await stage.until("failures") {
                try stage.store.readNow { try $0.webhooks() }.allSatisfy { $0.lastFailure != nil }
            }
        }
        let states = try stage.store.readNow { try $0.webhooks() }
        let failures = Dictionary(uniqueKeysWithValues: states.map { ($0.name, $0.lastFailure ?? "") })
        #expect(failures["inside"]?.contains("internal address") == true, "\(failures)")
        #expect(failures["untrusted"]?.contains("TLS") == true, "\(failures)")
        #expect(receiver.got.isEmpty)
    }
}
