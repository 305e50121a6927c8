import HTTPKit
import HTTPTypes
import Hummingbird
import MerchantCore
import NIOCore
import NIOHTTPTypes
import Secrets
import ServerKit

/// Reads the query and the body within the limits that the route declares.
struct RequestInput {
    let route: AdminRoute

    func read(_ request: Request, _ target: RequestTarget, _ context: AdminRequestContext) async throws -> AdminCall {
        let query = try QueryParameters(target.rawQuery, known: route.query)
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > route.mostBytes { throw tooLarge }
        try context.reserve(length ?? (request.headers[.transferEncoding] == nil ? 0 : route.mostBytes))
        if request.headers[.expect]?.lowercased() == "100-continue" {
            try await context.connection.channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
        }
        return AdminCall(
            peer: context.peer, requestId: context.requestId, headers: request.headers, query: query,
            body: try await collect(request.body, length: length))
    }

    private func collect(_ body: RequestBody, length: Int?) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        // With the whole capacity, the array does not grow. A growing array would free memory without overwriting it.
        if let length { bytes.reserveCapacity(length) }
        do {
            for try await part in body {
                guard bytes.count + part.readableBytes <= route.mostBytes else { throw tooLarge }
                bytes.append(contentsOf: part.readableBytesView)
                // The part is in the connection's own buffer, and may contain a private key, so it is overwritten.
                part.withUnsafeReadableBytes(Wipe.overwrite)
            }
        } catch let error as MerchantError {
            throw error
        } catch {
            throw BrokenConnection(cause: error)
        }
        // If a connection ends early, the loop above can end as if the body were complete.
        if let length, length != bytes.count { throw BrokenConnection(cause: ChannelError.eof) }
        return bytes
    }

    private var tooLarge: MerchantError {
        route.mostBytes == 0
            ? MerchantError(.malformed, "found a body, expected none with this call")
            : MerchantError(.tooLarge, "the body is longer than \(route.mostBytes) bytes, the limit of this call")
    }
}

/// The connection ended before the request was complete, so a response cannot be sent.
struct BrokenConnection: Error {
    let cause: any Error
}
