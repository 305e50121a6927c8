// The article DecryptWithTheDaemon.md shows what follows the import; a test compares them.
import MerchantKeyClient

/// Takes a payment. `idempotencyKey` is random. Store it with the attempt before you call this function.
func takePayment(
    _ paymentData: [UInt8], idempotencyKey: String, from daemon: DecryptorClient
) async throws -> DecryptedToken {
    try await daemon.decrypt(
        paymentData,
        expecting: PaymentExpectation(
            merchant: .named("merchant.com.example.shop"), currencyCode: "840", transactionAmount: 1999),
        claim: true, idempotencyKey: idempotencyKey)
}
