/// Shares a server's connections out among the users of the machine, so that none of them can keep the others away.
///
/// A socket's mode may let everybody connect; what a caller may do is judged later, but a connection costs at once.
package struct ConnectionShares: Sendable {
    /// How many connections may be open at the same time, each inclusive.
    package struct Bounds: Hashable, Sendable {
        package var all: Int
        /// Of one user, by uid.
        package var ofOneUser: Int
        /// Of all users together who have no permit: enough to be told so.
        package var ofStrangers: Int

        package init(all: Int, ofOneUser: Int, ofStrangers: Int) {
            self.all = all
            self.ofOneUser = ofOneUser
            self.ofStrangers = ofStrangers
        }
    }

    /// Whose share a connection is counted on.
    package enum Holder: Hashable, Sendable {
        case user(uid: UInt32)
        /// Somebody without a permit.
        case stranger
    }

    private let bounds: Bounds
    private var open: [Holder: Int] = [:]
    private var openAll = 0

    package init(_ bounds: Bounds) { self.bounds = bounds }

    /// Counts one more connection.
    ///
    /// - Returns: nil, or why it was not counted, in lower case.
    package mutating func take(_ holder: Holder) -> String? {
        guard openAll < bounds.all else { return "\(bounds.all) connections are open already" }
        let held = open[holder, default: 0]
        switch holder {
        case .user(let uid) where held >= bounds.ofOneUser:
            return "the user with uid \(uid) holds \(bounds.ofOneUser) connections already"
        case .stranger where held >= bounds.ofStrangers:
            return "callers without a permit hold \(bounds.ofStrangers) connections already"
        default: break
        }
        open[holder] = held + 1
        openAll += 1
        return nil
    }

    /// A connection that was counted has ended.
    package mutating func giveBack(_ holder: Holder) {
        guard let held = open[holder], held > 0 else { return }
        open[holder] = held == 1 ? nil : held - 1
        openAll -= 1
    }
}
