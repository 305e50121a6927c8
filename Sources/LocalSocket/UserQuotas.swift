/// Counts a resource, such as connections or memory, by holder (a user of the machine or a client of a TCP port), and
/// enforces a limit for each holder. So no holder can use up the resource and exclude the others.
///
/// All users to whom the settings give no permit share one limit. Such users need a limit, too: the mode of a socket's
/// file may let every user connect, and each connection uses memory.
package struct UserQuotas: Sendable {
    /// The largest permitted amounts.
    package struct Limits: Hashable, Sendable {
        package var total: Int
        /// The limit for each user with a permit, identified by uid, and for each client of a TCP port.
        package var perUser: Int
        /// The limit for all users without a permit together.
        package var withoutPermit: Int

        package init(total: Int, perUser: Int, withoutPermit: Int) {
            self.total = total
            self.perUser = perUser
            self.withoutPermit = withoutPermit
        }
    }

    /// Whose limit applies. All users without a permit are one holder, and share one limit.
    package enum Holder: Hashable, Sendable {
        /// A user of the machine to whom the settings give a permit.
        case user(uid: UInt32)
        /// A client of a TCP port, identified by its name or its address.
        case remote(String)
        case withoutPermit
    }

    /// The limit that was reached.
    package enum Exhausted: Error, Hashable, Sendable {
        case total
        case user(uid: UInt32)
        /// The limit of one client of a TCP port.
        case remote(String)
        case withoutPermit

        fileprivate static func reached(by holder: Holder) -> Exhausted {
            switch holder {
            case .user(let uid): .user(uid: uid)
            case .remote(let name): .remote(name)
            case .withoutPermit: .withoutPermit
            }
        }
    }

    package let limits: Limits
    private var amounts: [Holder: Int] = [:]
    private var total = 0

    package init(_ limits: Limits) { self.limits = limits }

    /// Adds `amount` to the amount that the holder has. Throws, and adds nothing, if a limit would be exceeded.
    package mutating func take(_ amount: Int = 1, for holder: Holder) throws(Exhausted) {
        guard total + amount <= limits.total else { throw .total }
        let before = held(by: holder)
        guard before + amount <= limit(of: holder) else { throw .reached(by: holder) }
        amounts[holder] = before + amount
        total += amount
    }

    /// The amount that a holder has.
    package func held(by holder: Holder) -> Int { amounts[holder, default: 0] }

    /// Whether the total limit permits one more.
    package var hasRoom: Bool { total < limits.total }

    /// Whether the holder's own limit permits one more.
    package func hasShare(for holder: Holder) -> Bool { held(by: holder) < limit(of: holder) }

    private func limit(of holder: Holder) -> Int {
        switch holder {
        case .user, .remote: limits.perUser
        case .withoutPermit: limits.withoutPermit
        }
    }

    /// Subtracts `amount` from the amount that the holder has. Does nothing if the holder has less than `amount`.
    package mutating func giveBack(_ amount: Int = 1, from holder: Holder) {
        guard let before = amounts[holder], before >= amount else { return }
        amounts[holder] = before == amount ? nil : before - amount
        total -= amount
    }
}
