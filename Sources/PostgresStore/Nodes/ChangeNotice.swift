/// Wakes the other daemons after a commit that changes key pairs or adds events.
enum ChangeNotice {
    static let channel = "merchantkeyd_changes"

    /// Call in the transaction of the change. PostgreSQL sends the notice when the transaction is committed.
    static func send(on connection: Connection) throws { try connection.sendLater("NOTIFY \(channel)") }
}
