import FoundationEssentials
import MerchantCore
import MerchantOperations
import OutboundHTTP
import Vocabulary
import WireAPI

/// Makes one attempt to deliver one event.
struct WebhookSender: Sendable {
    /// The longest pause that a receiver can ask for in `Retry-After`. The daemon shortens a longer one to this.
    static let longestRetryAfter = Duration.seconds(3_600)

    let webhook: Webhook
    let connections: WebhookConnections
    let limits: EventDelivery.Limits

    /// - Throws: ``DeliveryFailure``, ``OutboundFailure`` or ``HostResolutionError`` if the receiver did not respond
    ///   with a status from 200 to 299.
    func deliver(_ event: StoredEvent, at now: Timestamp) async throws {
        let body = try Self.body(event)
        let secrets: WebhookSecrets
        do { secrets = try WebhookSecrets.read(webhook.secretFile) } catch {
            throw DeliveryFailure("the webhook \(error)")
        }
        let request = OutboundRequest(
            url: webhook.address.url, method: "POST",
            headers: [
                ("Content-Type", "application/json"), ("User-Agent", "merchantkeyd/\(Program.version)"),
                ("Merchantkeyd-Signature", secrets.signature(over: body, at: now)),
            ], body: body)
        let connection = try await connections.current()
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await connection.client.send(request, within: limits.attempt)
        } catch {
            await connections.failed(connection)
            throw error
        }
        try Self.requireSuccess(response, at: now)
    }

    private static func requireSuccess(_ response: OutboundResponse, at now: Timestamp) throws(DeliveryFailure) {
        guard !(200..<300).contains(response.status) else { return }
        let hint = (300..<400).contains(response.status) ? "; redirects are not followed" : ""
        let pause = response.header("Retry-After").flatMap { RetryAfter.pause($0, now: now.date) }
        throw DeliveryFailure(
            "the receiver responded with status \(response.status)\(hint)",
            retryAfter: pause.map { min($0, longestRetryAfter) })
    }

    private static func body(_ event: StoredEvent) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(EventDocument(event)))
    }
}
