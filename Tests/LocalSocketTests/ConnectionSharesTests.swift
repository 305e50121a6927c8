import LocalSocket
import Testing

@Suite struct ConnectionSharesTests {
    private var shares = ConnectionShares(.init(all: 5, ofOneUser: 3, ofStrangers: 1))

    @Test("one user cannot take the connections of another, nor strangers those of users")
    mutating func shareEach() {
        for _ in 0..<3 { #expect(shares.take(.user(uid: 1)) == nil) }
        #expect(shares.take(.user(uid: 1)) == "the user with uid 1 holds 3 connections already")
        #expect(shares.take(.stranger) == nil)
        #expect(shares.take(.stranger) == "callers without a permit hold 1 connections already")
        #expect(shares.take(.user(uid: 2)) == nil)
        #expect(shares.take(.user(uid: 2)) == "5 connections are open already")
    }

    @Test("what was given back can be taken again, and only that")
    mutating func givenBack() {
        #expect(shares.take(.stranger) == nil)
        shares.giveBack(.stranger)
        shares.giveBack(.stranger)
        #expect(shares.take(.stranger) == nil)
        #expect(shares.take(.stranger) != nil)
        for _ in 0..<3 { #expect(shares.take(.user(uid: 1)) == nil) }
        #expect(shares.take(.user(uid: 2)) == nil)
        #expect(shares.take(.user(uid: 2)) != nil)
    }
}
