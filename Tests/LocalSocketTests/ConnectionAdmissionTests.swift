import LocalSocket
import NIOCore
import NIOEmbedded
import Testing

@Suite struct ConnectionAdmissionTests {
    private let admission = ConnectionAdmission(
        UserQuotas.Limits(total: 4, perUser: 3, withoutPermit: 0), waitingGiveWay: true)

    private func admit(_ client: String) -> EmbeddedChannel? {
        let channel = EmbeddedChannel()
        return admission.admit(channel, of: .remote(client)) == .admitted ? channel : nil
    }

    /// Whether the admission has closed the channel.
    private func isClosed(_ channel: EmbeddedChannel) -> Bool {
        channel.embeddedEventLoop.run()
        var isClosed = false
        channel.closeFuture.assumeIsolated().whenComplete { _ in isClosed = true }
        channel.embeddedEventLoop.run()
        return isClosed
    }

    @Test func `above the limit of one client, its connection that has waited longest gives way`() throws {
        let other = try #require(admit("b"))
        let own = try (0..<3).map { _ in try #require(admit("a")) }
        // The first one now waits again, so the second one has waited longest.
        admission.setWaitsForClient(false, own[0])
        admission.setWaitsForClient(true, own[0])
        #expect(admit("a") != nil)
        #expect(own.map { isClosed($0) } == [false, true, false])
        #expect(!isClosed(other))
    }

    @Test func `above the total limit, a connection of the client with most connections gives way`() throws {
        let other = try #require(admit("b"))
        let most = try (0..<3).map { _ in try #require(admit("a")) }
        #expect(admit("c") != nil)
        #expect(most.map { isClosed($0) } == [true, false, false])
        #expect(!isClosed(other))
    }

    @Test func `a connection on whose request the server works does not give way`() throws {
        let open = try (0..<3).map { _ in try #require(admit("a")) }
        for channel in open { admission.setWaitsForClient(false, channel) }
        #expect(admit("a") == nil)
        #expect(open.allSatisfy { !isClosed($0) })
        admission.setWaitsForClient(true, open[2])
        #expect(admit("a") != nil)
        #expect(open.map { isClosed($0) } == [false, false, true])
    }

    @Test func `without the rule that waiting connections give way, a connection above the limit is refused`() {
        let admission = ConnectionAdmission(UserQuotas.Limits(total: 1, perUser: 1, withoutPermit: 0))
        let first = EmbeddedChannel()
        #expect(admission.admit(first, of: .remote("a")) == .admitted)
        #expect(admission.admit(EmbeddedChannel(), of: .remote("b")) != .admitted)
        #expect(!isClosed(first))
    }
}
