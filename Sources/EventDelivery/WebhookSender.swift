import AsyncHTTPClient
import FoundationEssentials
import MerchantCore
import MerchantOperations
import NIOCore
import NIOHTTP1
import Vocabulary
import WireAPI

/// Makes one attempt to deliver one event.
struct WebhookSender: Sendable {
    /// So much of an answer is read, to keep the connection; nothing in it counts.
    static let largestAnswer = 16_384
    /// A receiver that asks for more is asked again sooner.
    static let longestWait = Duration.seconds(3_600)

    let webhook: Webhook
    let routes: Routes
    let limits: EventDelivery.Limits

    /// - Throws: ``DeliveryFault`` unless the receiver answered 200 to 299.
    func deliver(_ event: StoredEvent, at now: Timestamp) async throws {
        let body = try Self.body(event)
        let secrets: WebhookSecrets
        do { secrets = try WebhookSecrets.read(webhook.secretFile) } catch {
            throw DeliveryFault("the webhook \(error)")
        }
        let route = try await routes.current()
        var request = HTTPClientRequest(url: webhook.address.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "merchantkeyd/\(Program.version)")
        request.headers.add(name: "Merchantkeyd-Signature", value: secrets.signature(over: body, at: now))
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            let seconds = limits.attempt.components
            let attempt = TimeAmount.nanoseconds(seconds.seconds * 1_000_000_000 + seconds.attoseconds / 1_000_000_000)
            response = try await route.client.execute(request, deadline: .now() + attempt)
        } catch {
            await routes.failed(route)
            throw DeliveryFault(error)
        }
        try await judge(response)
    }

    private func judge(_ response: HTTPClientResponse) async throws {
        let status = response.status.code
        guard (200..<300).contains(status) else {
            let hint = (300..<400).contains(status) ? "; redirects are not followed" : ""
            let wait = response.headers.first(name: "Retry-After").flatMap { Int($0) }
                .map { min(Duration.seconds(max(0, $0)), Self.longestWait) }
            throw DeliveryFault("answered \(status)\(hint)", wait: wait)
        }
        // Delivered, whatever becomes of the rest; a body that is long or slow costs the connection.
        _ = try? await withThrowingTaskGroup { group in
            group.addTask { _ = try await response.body.collect(upTo: Self.largestAnswer) }
            group.addTask { try await Task.sleep(for: .seconds(1)) }
            try await group.next()
            group.cancelAll()
        }
    }

    private static func body(_ event: StoredEvent) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(EventDocument(event)))
    }
}
