import Hummingbird
import HummingbirdCore
import MerchantCore
import MerchantOperations
import RESTKit
import ServerKit
import Vocabulary

/// Receives Apple's notifications of merchant tokens. Responds with 200 when the notification is on stable storage, or
/// was ignored.
struct TokenNotificationHandler: MerchantTokenHandler {
    private let intake: TokenNotificationIntake
    private let policy: TokenNotificationPolicy
    private let rates: RequestRates

    init(intake: TokenNotificationIntake, policy: TokenNotificationPolicy) {
        self.intake = intake
        self.policy = policy
        rates = RequestRates(policy.rates)
    }

    func countRequest(from address: RemoteAddress) throws(MerchantError) {
        guard let seconds = rates.count(address: address) else { return }
        intake.countRefusal(.rate)
        throw MerchantError(
            .tooManyRequests,
            "too many notifications from this address: send the next one in \(seconds.counted("second"))",
            retryAfter: seconds)
    }

    func delayOfRefusal(for address: RemoteAddress) -> Duration? { rates.delay(ofRefusalFor: address) }

    func respond(
        to route: MerchantTokenRoute, _ request: HummingbirdCore.Request, from address: RemoteAddress,
        _ context: RESTContext, checkBody: () async throws -> Void
    ) async throws -> Response {
        guard case .notification(let secret, let event) = route else { throw MerchantError.noRoute }
        try admit(address)
        try await checkBody()
        _ = try await intake.receive(event, secret: secret, from: address.block.description)
        return Response(status: .ok)
    }

    /// - Throws: `forbidden` for an address that is not in the setting `merchant-tokens.sources`.
    private func admit(_ address: RemoteAddress) throws(MerchantError) {
        guard policy.accepts(address) else {
            intake.countRefusal(.source)
            throw MerchantError(
                .forbidden,
                "notifications are accepted only from Apple's addresses; the setting 'merchant-tokens.sources' names them"
            )
        }
    }
}
