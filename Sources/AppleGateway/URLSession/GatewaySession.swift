package import Foundation
package import FoundationNetworking
package import OutboundHTTP

/// Sends requests with `URLSession` over an ``OutboundClient``. Each request has a `URLSession` of its own.
///
/// On Linux `URLSession` supports neither client certificates nor a choice of trust roots, so ``GatewayURLProtocol``
/// passes each request to the client.
package final class GatewaySession: Sendable {
    private let client: OutboundClient
    /// The queue on which the URLSessions of all requests call their completion handlers.
    private let completions = OperationQueue()

    /// - Parameter client: the HTTP client, which ``shutdown()`` shuts down.
    package init(client: OutboundClient) { self.client = client }

    package func shutdown() async { await client.shutdown() }

    /// Sends one request, as ``OutboundClient/send(_:identity:within:)`` does.
    package func send(
        _ request: OutboundRequest, identity: TLSIdentity?, within timeout: Duration
    ) async throws(OutboundFailure) -> OutboundResponse {
        var urlRequest = URLRequest(url: request.url)
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body.map { Data($0) }
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        urlRequest.timeoutInterval = max(0.001, timeout / .seconds(1))
        let (data, response) = try await data(for: urlRequest, identity: identity)
        return OutboundResponse(
            status: response.statusCode,
            headers: response.allHeaderFields.compactMap { name, value in
                (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
            }, body: Array(data))
    }

    /// Sends one request. The request is never repeated, and redirects are not followed. `timeoutInterval` of the
    /// request limits the time until the end of the response.
    ///
    /// - Parameter identity: the client certificate; nil presents none.
    package func data(
        for request: URLRequest, identity: TLSIdentity? = nil
    ) async throws(OutboundFailure) -> (Data, HTTPURLResponse) {
        let context = RequestContext(client: client, identity: identity)
        do {
            // `with` passes a copy of the request, with a header by which the protocol finds the context.
            return try await GatewayURLProtocol.with(context, request) { requestWithHeader in
                try await response(to: requestWithHeader, context)
            }
        } catch let failure as OutboundFailure {
            guard let url = request.url else { throw failure }
            // If the server's certificate is not trusted, `explained` connects again to find out why.
            throw await client.explained(failure, url: url)
        } catch {
            throw .unreachable(.other("\(error)"))
        }
    }

    /// Settings for a session that stores no cookies, credentials or responses, and adds none to a request.
    ///
    /// They are not derived from `ephemeral`, which creates a cache with a directory in the user's home directory each
    /// time; see also ``SharedURLStorage``.
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [GatewayURLProtocol.self]
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return configuration
    }

    /// Sends the request in a session of its own. The session's task always completes, and completes once. Cancelling
    /// the caller's task cancels the request through `context`.
    ///
    /// Each request needs its own session to prevent a data race in Foundation on Linux. Foundation keeps a session's
    /// tasks in a dictionary that only the session's queue may use, but also reads it on the thread on which a
    /// URLProtocol reports. If a session has only one task, there is no race.
    private func response(to request: URLRequest, _ context: RequestContext) async throws -> (Data, HTTPURLResponse) {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let session = URLSession(
                    configuration: Self.configuration, delegate: nil, delegateQueue: completions)
                session.dataTask(with: request) { data, response, error in
                    if let response = response as? HTTPURLResponse, error == nil {
                        continuation.resume(returning: (data ?? Data(), response))
                    } else {
                        continuation.resume(throwing: error ?? OutboundFailure.notHTTP("no HTTP response"))
                    }
                }.resume()
            }
        } onCancel: {
            context.cancel()
        }
    }
}
