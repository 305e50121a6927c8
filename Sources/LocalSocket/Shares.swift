/// Limits how much of a resource each user of the machine may hold at the same time, so that no user can exclude others.
///
/// A socket's mode may let every user connect. Permits are checked later, but connections and responses use memory at once.
package struct Shares: Sendable {
    /// Each inclusive.
    package struct Limits: Hashable, Sendable {
        package var total: Int
        /// Of one user, by uid.
        package var perUser: Int
        /// Of all users without a permit together.
        package var withoutPermit: Int

        package init(total: Int, perUser: Int, withoutPermit: Int) {
            self.total = total
            self.perUser = perUser
            self.withoutPermit = withoutPermit
        }
    }

    /// The user whose share is used.
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

    /// Adds `amount` to what the holder has, completely or not at all.
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

    /// Returns what was taken. An amount greater than what the holder has is ignored.
    package mutating func giveBack(_ amount: Int = 1, from holder: Holder) {
        guard let before = held[holder], before >= amount else { return }
        held[holder] = before == amount ? nil : before - amount
        total -= amount
    }
}
