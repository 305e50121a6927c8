import MerchantCore
import Testing
import Vocabulary

@Suite struct RefusedRequestsTests {
    private let time = Timestamp(millisecondsSince1970: 1_700_000_000_000)

    private func caller(_ uid: UInt32, pid: Int32 = 1) -> Caller {
        Caller(uid: uid, gid: uid, pid: pid, program: "/usr/bin/decryptor")
    }

    private func seen(_ second: Int) -> ObservedUse {
        let at = time.adding(.seconds(second))
        return ObservedUse(count: 1, first: at, last: at)
    }

    private func key(_ number: Int) -> PublicKeyHash {
        PublicKeyHash(of: [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
    }

    @Test func `equal refusals are counted together, with the times of the first and the last`() {
        var refused = RefusedRequests()
        let refusal = Refusal(by: caller(7), permit: .exportPrivateKey, key: key(1))
        for second in [5, 1, 9] { refused.add(refusal, seen(second)) }
        refused.add(Refusal(by: caller(7), permit: .resolve, key: key(1)), seen(3))
        #expect(
            refused.groups.map(\.group) == [
                .kind(refusal), .kind(Refusal(by: caller(7), permit: .resolve, key: key(1))),
            ])
        #expect(
            refused.groups.first?.seen
                == ObservedUse(
                    count: 3, first: time.adding(.seconds(1)), last: time.adding(.seconds(9))))
    }

    @Test func `a user with many kinds of refusals gets one further count, and other users are still named`() {
        var refused = RefusedRequests()
        for number in 0..<10_000 {
            refused.add(Refusal(by: caller(7, pid: Int32(number % 5)), permit: .resolve, key: key(number)), seen(1))
        }
        let quiet = Refusal(by: caller(8), permit: .decryptUnverified, key: key(1))
        refused.add(quiet, seen(2))
        let groups = refused.groups
        #expect(groups.count == RefusedRequests.maximumKindsPerUser + 2)
        #expect(groups.contains { $0.group == .kind(quiet) && $0.seen.count == 1 })
        #expect(groups.reduce(0) { $0 + $1.seen.count } == 10_001)
    }

    @Test func `with any number of users, memory is bounded and every request is counted`() {
        var refused = RefusedRequests()
        for uid in 0..<5_000 {
            for number in 0..<3 {
                refused.add(Refusal(by: caller(UInt32(uid)), permit: nil, key: key(number)), seen(uid))
            }
        }
        let groups = refused.groups
        #expect(groups.count == RefusedRequests.maximumKinds + RefusedRequests.maximumUsers + 1)
        #expect(groups.reduce(0) { $0 + $1.seen.count } == 15_000)
        // Counts that could not be recorded are added again without loss.
        var again = RefusedRequests()
        for (group, seen) in groups { again.add(group, seen) }
        #expect(again.groups.reduce(0) { $0 + $1.seen.count } == 15_000)
        #expect(again.groups.count <= groups.count)
    }
}
