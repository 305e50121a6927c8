import MerchantCore
import Testing
import Vocabulary

/// The whole table of state transitions: every event in every state.
@Suite struct KeyLifecycleTests {
    static let events: [(KeyTrigger, [KeyState: KeyState])] = [
        (.certificateStored, [.pending: .standby, .standby: .standby, .current: .current, .retiring: .retiring]),
        (.promote, [.standby: .current, .retiring: .current, .current: .current]),
        (.supersede, [.current: .retiring, .retiring: .retiring]),
        (
            .revoke,
            [.pending: .revoked, .standby: .revoked, .current: .revoked, .retiring: .revoked, .revoked: .revoked]
        ),
        (.restore(hasCertificate: false, anotherIsCurrent: false), [.revoked: .pending]),
        (.restore(hasCertificate: false, anotherIsCurrent: true), [.revoked: .pending]),
        (.restore(hasCertificate: true, anotherIsCurrent: false), [.revoked: .standby]),
        (.restore(hasCertificate: true, anotherIsCurrent: true), [.revoked: .retiring]),
        (.destroy, [.revoked: .destroyed, .destroyed: .destroyed]),
    ]

    @Test(arguments: events.indices, KeyState.allCases)
    func `each event leads to the documented state or is refused`(index: Int, state: KeyState) {
        let (event, outcomes) = Self.events[index]
        let outcome = try? KeyLifecycle.state(after: event, from: state)
        #expect(outcome == outcomes[state])
    }

    @Test(arguments: events.indices)
    func `no event leaves destroyed, and only promote makes a key current`(index: Int) {
        let (event, _) = Self.events[index]
        #expect((try? KeyLifecycle.state(after: event, from: .destroyed)) ?? .destroyed == .destroyed)
        guard event != .promote else { return }
        for state in KeyState.allCases where state != .current {
            #expect((try? KeyLifecycle.state(after: event, from: state)) != .current)
        }
    }

    @Test func `a pending key cannot be promoted, because it has no certificate`() {
        let refusal = #expect(throws: MerchantError.self) { try KeyLifecycle.state(after: .promote, from: .pending) }
        #expect(refusal?.code == .keyWithoutCertificate)
        #expect(refusal?.detail.contains("pending") == true && refusal?.detail.contains("certificate") == true)
    }
}
