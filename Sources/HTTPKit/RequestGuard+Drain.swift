import NIOCore

/// The end of a connection during a shutdown.
extension RequestGuard {
    func beginDrain(_ context: ChannelHandlerContext) {
        isDraining = true
        guard !isResponding else { return }
        // The client may still be sending a request to which the server has already responded. The client must then
        // have time to read this response.
        guard !isReceiving else { return closeAfterLinger(context) }
        waitForRequest(context)
    }

    /// Gives the client of an idle connection a short time to send a request. The response to this request announces
    /// the end of the connection.
    func waitForRequest(_ context: ChannelHandlerContext) {
        graceTimer?.cancel()
        graceTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.idleGrace) {
            self.endIdleConnection(context)
        }
    }

    private func endIdleConnection(_ context: ChannelHandlerContext) {
        guard !isClosing, !isResponding else { return }
        guard hasUnreadBytes(context.channel) || decodedRequests.isHeadIncomplete else { return closeNow(context) }
        // The request that has just arrived, or has begun to arrive, is answered if its head is complete in time.
        graceTimer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.lingerTime) {
            if !self.isResponding, !self.isClosing { self.closeNow(context) }
        }
    }

    /// Whether the server is shutting down and the response that begins now is the last one of the connection, because
    /// no other request has arrived. On a Unix socket, the client cannot send another request from then on. On TCP, the
    /// response tells the client that the server answers no later request.
    func isLastOfDrain(_ context: ChannelHandlerContext) -> Bool {
        guard isDraining else { return false }
        // The client is still sending the request, and the server does not wait for the rest of the request.
        guard !isReceiving else { return true }
        return !hasUnreadBytes(context.channel) && decodedRequests.count <= begunRequests
    }
}
