import MerchantCore
import Testing
import Vocabulary

@Suite struct RefusedRequestsTests {
    private let time = Timestamp(millisecondsSince1970: 1_700_000_000_000)

    private func caller(_ uid: UInt32, pid: Int32 = 1) -> Caller {
        Caller(uid: uid, gid: uid, pid: pid, program: "/usr/bin/decryptor")
    }

    private func occurrence(_ second: Int) -> Occurrences {
        let at = time.adding(.seconds(second))
        return Occurrences(count: 1, first: at, last: at)
    }

    private func key(_ number: Int) -> PublicKeyHash {
        PublicKeyHash(of: [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
    }

    @Test func `equal refusals are counted together, with the times of the first and the last`() {
        var refused = RefusedRequests()
        let refusal = RefusalKind(by: caller(7), permit: .exportPrivateKey, key: key(1))
        for second in [5, 1, 9] { refused.add(refusal, occurrence(second)) }
        refused.add(RefusalKind(by: caller(7), permit: .resolve, key: key(1)), occurrence(3))
        #expect(
            refused.groups.map(\.group) == [
                .kind(refusal), .kind(RefusalKind(by: caller(7), permit: .resolve, key: key(1))),
            ])
        #expect(
            refused.groups.first?.requests
                == Occurrences(
                    count: 3, first: time.adding(.seconds(1)), last: time.adding(.seconds(9))))
    }

    @Test func `a user with many kinds of refusals gets one further count, and other users are still named`() {
        var refused = RefusedRequests()
        for number in 0..<10_000 {
            refused.add(
                RefusalKind(by: caller(7, pid: Int32(number % 5)), permit: .resolve, key: key(number)), occurrence(1))
        }
        let quiet = RefusalKind(by: caller(8), permit: .decryptUnverified, key: key(1))
        refused.add(quiet, occurrence(2))
        let groups = refused.groups
        #expect(groups.count == RefusedRequests.maximumKindsPerUser + 2)
        #expect(groups.contains { $0.group == .kind(quiet) && $0.requests.count == 1 })
        #expect(groups.reduce(0) { $0 + $1.requests.count } == 10_001)
    }

    @Test func `with any number of users, memory is bounded and every request is counted`() {
        var refused = RefusedRequests()
        for uid in 0..<5_000 {
            for number in 0..<3 {
                refused.add(RefusalKind(by: caller(UInt32(uid)), permit: nil, key: key(number)), occurrence(uid))
            }
        }
        let groups = refused.groups
        #expect(groups.count == RefusedRequests.maximumKinds + RefusedRequests.maximumUsers + 1)
        #expect(groups.reduce(0) { $0 + $1.requests.count } == 15_000)
        // Counts that could not be recorded are added again without loss.
        var again = RefusedRequests()
        for (group, requests) in groups { again.add(group, requests) }
        #expect(again.groups.reduce(0) { $0 + $1.requests.count } == 15_000)
        #expect(again.groups.count <= groups.count)
    }
}
