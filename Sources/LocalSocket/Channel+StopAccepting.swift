package import NIOCore

extension Channel {
    /// Stops accepting connections, and loses none of the accepted ones: when this method returns, every accepted
    /// connection has its handlers, and the listening socket is closed. Call this on the channel of the listening
    /// socket.
    ///
    /// - Parameter loops: the event loops of the accepted connections.
    package func stopAccepting(connectionsOn loops: some EventLoopGroup) async {
        // Here and below, an error means that the channel is closed or its event loop has ended, so nothing is left to
        // wait for.
        try? await setOption(.autoRead, value: false).get()
        // NIO closes a connection if the server's channel closes before the connection has its handlers. An accepted
        // connection gets its handlers on its own event loop, then returns to the server's event loop, and then becomes
        // active on its own event loop. Event loops run their tasks in order, so two rounds wait for all these steps.
        for _ in 0..<2 {
            for loop in loops.makeIterator() { try? await loop.submit {}.get() }
            try? await eventLoop.submit {}.get()
        }
        try? await close()
    }
}
