/// How much of something each user of the machine may hold at the same time, so that none of them keeps it from the others.
///
/// A socket's mode may let everybody connect. What callers may do is decided later, but a connection and a response in
/// memory cost at once.
package struct Shares: Sendable {
    /// Each inclusive.
    package struct Limits: Hashable, Sendable {
        package var total: Int
        /// Of one user, by uid.
        package var perUser: Int
        /// Of all users together who have no permit.
        package var withoutPermit: Int

        package init(total: Int, perUser: Int, withoutPermit: Int) {
            self.total = total
            self.perUser = perUser
            self.withoutPermit = withoutPermit
        }
    }

    /// Whose share something counts against.
    package enum Holder: Hashable, Sendable {
        case user(uid: UInt32)
        case withoutPermit
    }

    /// The limit that was reached.
    package enum Exhausted: Error, Hashable, Sendable {
        case total
        case user(uid: UInt32)
        case withoutPermit
    }

    package let limits: Limits
    private var held: [Holder: Int] = [:]
    private var total = 0

    package init(_ limits: Limits) { self.limits = limits }

    /// Counts `amount` against the holder's share, all of it or nothing.
    package mutating func take(_ amount: Int = 1, for holder: Holder) throws(Exhausted) {
        guard total + amount <= limits.total else { throw .total }
        let before = held[holder, default: 0]
        switch holder {
        case .user(let uid) where before + amount > limits.perUser: throw .user(uid: uid)
        case .withoutPermit where before + amount > limits.withoutPermit: throw .withoutPermit
        default: break
        }
        held[holder] = before + amount
        total += amount
    }

    /// Gives back what was taken; more than the holder has changes nothing.
    package mutating func giveBack(_ amount: Int = 1, from holder: Holder) {
        guard let before = held[holder], before >= amount else { return }
        held[holder] = before == amount ? nil : before - amount
        total -= amount
    }
}
