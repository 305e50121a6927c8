// The article DecryptWithTheDaemon.md shows what follows the import; a test compares them.
import MerchantKeyClient

/// Takes a payment. `attempt` is random, and stored with the attempt before this is called.
func takePayment(
    _ paymentData: [UInt8], attempt: String, from daemon: DecryptorClient
) async throws -> DecryptedToken {
    try await daemon.decrypt(
        paymentData,
        expecting: PaymentExpectation(
            merchant: .named("merchant.com.example.shop"), currencyCode: "840", transactionAmount: 1999),
        claim: true, idempotencyKey: attempt)
}
