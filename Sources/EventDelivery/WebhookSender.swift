import FoundationEssentials
import MerchantCore
import MerchantOperations
import OutboundHTTP
import Vocabulary
import WireAPI

/// Sends an event to a webhook as a signed HTTPS request. Each call is one attempt.
struct WebhookSender: Sendable {
    /// The longest pause that a receiver can ask for in `Retry-After`. If the receiver asks for a longer pause, the
    /// daemon waits only for this time.
    static let longestRetryAfter = Duration.seconds(3_600)

    let webhook: Webhook
    let clients: WebhookClients
    let limits: EventDelivery.Limits

    /// - Throws: ``DeliveryFailure``, ``OutboundFailure`` or ``HostResolutionError`` if the receiver did not respond
    ///   with a status from 200 to 299.
    func deliver(_ event: StoredEvent, at now: Timestamp) async throws {
        try Self.requireSuccess(try await send(EventDocument(event), at: now), at: now)
    }

    /// Sends an event, and returns the response with any status.
    ///
    /// - Throws: as ``deliver(_:at:)``, if there is no response.
    func send(_ event: EventDocument, at now: Timestamp) async throws -> OutboundResponse {
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
        let client = try await clients.client()
        do throws(OutboundFailure) {
            return try await client.httpClient.send(request, within: limits.attemptTimeout)
        } catch {
            await clients.discard(client)
            throw error
        }
    }

    /// - Throws: ``DeliveryFailure`` unless the status is from 200 to 299.
    static func requireSuccess(_ response: OutboundResponse, at now: Timestamp) throws(DeliveryFailure) {
        guard !(200..<300).contains(response.status) else { return }
        let hint = (300..<400).contains(response.status) ? "; redirects are not followed" : ""
        let pause = response.header("Retry-After").flatMap { RetryAfter.pause($0, now: now.date) }
        throw DeliveryFailure(
            "the receiver responded with status \(response.status)\(hint)",
            retryAfter: pause.map { min($0, longestRetryAfter) })
    }

    private static func body(_ event: EventDocument) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(event))
    }
}
