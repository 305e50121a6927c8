package import HTTPKit
import HTTPTypes
package import HummingbirdCore
import MerchantCore
import NIOCore
import NIOHTTPTypes
import Secrets

/// Reads the query and the body of a request to one route. Refuses an unknown query parameter, and a body that is
/// larger than the route permits.
package struct RequestInput: Sendable {
    private let query: Set<String>
    private let maximumBodyBytes: Int

    /// - Parameters:
    ///   - query: the names of the permitted query parameters.
    ///   - maximumBodyBytes: the largest body, in bytes. With 0, a request with a body is refused.
    package init(query: Set<String>, maximumBodyBytes: Int) {
        self.query = query
        self.maximumBodyBytes = maximumBodyBytes
    }

    package func read(
        _ request: Request, _ target: RequestTarget, _ context: RESTContext
    ) async throws -> (query: QueryParameters, body: [UInt8]) {
        let parameters = try QueryParameters(target.rawQuery, known: query)
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > maximumBodyBytes { throw tooLarge }
        // A body may come without a declared length (in HTTP/1.1 only if it is chunked). Then the largest permitted
        // length is reserved.
        try context.reserve(length ?? maximumBodyBytes)
        // The client sends the body only after this interim response.
        if request.headers[.expect]?.lowercased() == "100-continue" {
            try await context.connection.channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
        }
        let body = try await readBody(request.body, length: length)
        return (query: parameters, body: body)
    }

    private func readBody(_ body: RequestBody, length: Int?) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        // For a chunked body, the array grows, and its old memory, which may contain a private key, is freed. The
        // program replaces libc's `free` by a function that overwrites freed memory: docs/adr/0004-wiping-allocator.md.
        if let length { bytes.reserveCapacity(length) }
        do {
            for try await part in body {
                guard bytes.count + part.readableBytes <= maximumBodyBytes else { throw tooLarge }
                bytes.append(contentsOf: part.readableBytesView)
                // Overwrite the part in the connection's buffer too, because it may contain a private key.
                part.withUnsafeReadableBytes(Wipe.overwrite)
            }
        } catch let error as MerchantError {
            throw error
        } catch {
            throw BrokenConnection(cause: error)
        }
        // If the connection closes early, the loop above may finish without an error.
        if let length, length != bytes.count { throw BrokenConnection(cause: ChannelError.eof) }
        return bytes
    }

    private var tooLarge: MerchantError {
        maximumBodyBytes == 0
            ? MerchantError(.malformed, "found a body, expected none for this path and method")
            : MerchantError(.tooLarge, "the body is longer than \(maximumBodyBytes) bytes, this path's limit")
    }
}

/// The body could not be read to its end, because the connection ended or failed. So a response cannot be sent.
package struct BrokenConnection: Error {
    package let cause: any Error
}
