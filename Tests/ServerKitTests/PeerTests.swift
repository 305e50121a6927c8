import LocalSocket
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import ServerKit
import Testing
import Vocabulary

@Suite struct PeerTests {
    private static let process = Caller(uid: 1000, gid: 1000, pid: 1, program: "test")
    private static let remote = Caller.remote(RemoteCaller(name: "access:test", address: "192.0.2.1"))

    private static func peer(_ caller: Caller, _ grants: [Grant]) -> Peer {
        Peer(
            caller: caller, grants: grants, holder: .withoutPermit, refusals: RefusalLog(clock: HandMovedClock()))
    }

    /// The texts of the errors with which each check refuses the caller.
    private func refusals(of caller: Caller) throws -> [String] {
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        let other = try #require(MerchantIdentifier("merchant.com.example.other"))
        let scoped = Self.peer(caller, [Grant(permits: [.onboard], merchants: [merchant])])
        let withoutPermit = Self.peer(caller, [])
        return [
            Self.refusal { try withoutPermit.require(.onboard) },
            Self.refusal { try scoped.require(.onboard, for: other) },
            Self.refusal { try scoped.requireEveryMerchant(.onboard) },
            Self.refusal { try withoutPermit.requireAnyPermit(of: nil) },
        ]
    }

    /// The text of the error `forbidden`; empty for another outcome.
    private static func refusal(_ check: () throws -> Void) -> String {
        do {
            try check()
            return ""
        } catch {
            guard let error = error as? MerchantError, error.code == .forbidden else { return "" }
            return error.detail
        }
    }

    @Test func `an error names the uid and the setting callers to a process, but not to a portal client`() throws {
        let processTexts = try refusals(of: Self.process)
        #expect(processTexts.allSatisfy { $0.contains("uid 1000") && $0.contains("setting 'callers'") })
        #expect(processTexts.prefix(3).allSatisfy { $0.contains("'onboard'") })
        let texts = try refusals(of: Self.remote)
        #expect(texts.allSatisfy { !$0.isEmpty && !$0.contains("callers") })
        #expect(texts.prefix(3).allSatisfy { $0.contains("'onboard'") })
    }

    @Test func `the log identifies a process by its user and a client of the portal by its name`() {
        #expect(Self.process.logMetadata == ["uid": "1000", "pid": "1", "program": "test"])
        #expect(Self.remote.logMetadata == ["caller": "access:test", "address": "192.0.2.1"])
    }
}
