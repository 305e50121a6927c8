import Glibc
package import NIOCore

extension UnixListener {
    /// Stops accepting connections. Loses none of the connections that clients have opened, unless no file descriptor
    /// is free.
    ///
    /// This method first removes the socket's file, so that no further connection enters the kernel's queue. Then it
    /// accepts the queued connections. The file of an inherited socket stays: systemd holds a copy of the socket, and
    /// the queued connections wait there for the next daemon.
    ///
    /// - Parameters:
    ///   - server: the channel of the listening socket.
    ///   - loops: the event loops of the accepted connections.
    package func stopAccepting(_ server: any Channel, connectionsOn loops: some EventLoopGroup) async {
        remove()
        if !isInherited { await acceptQueuedConnections(server) }
        await server.stopAccepting(connectionsOn: loops)
    }

    /// Waits until the server has accepted all connections in the kernel's queue. Gives up after ``backlog`` rounds,
    /// because the server accepts nothing while no file descriptor is free.
    private func acceptQueuedConnections(_ server: any Channel) async {
        var rounds = 0
        while rounds < backlog, hasQueuedConnection {
            try? await server.eventLoop.submit {}.get()
            rounds += 1
        }
    }

    /// Whether a connection waits to be accepted.
    private var hasQueuedConnection: Bool {
        var listening = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&listening, 1, 0) == 1 && listening.revents & Int16(POLLIN) != 0
    }
}
