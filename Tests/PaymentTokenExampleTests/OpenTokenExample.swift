// docs/decryptor-api.md contains the lines between the two markers below; ExampleTests compares them.
// example begins
import Crypto
import Foundation
import MerchantKeyClient
import PaymentToken

/// Decrypts payment tokens in your own process. The daemon derives their symmetric keys, so no private key leaves the
/// daemon.
func makeOpener(
    keys: DecryptorClient, claim: @escaping PaymentTokenOpener.Claim
) -> PaymentTokenOpener {
    PaymentTokenOpener(
        verifier: SignatureVerifier(environment: TokenEnvironment.production),
        findKey: { publicKeyHash in
            let key = try await keys.resolve(publicKeyHash)
            return MerchantKey(merchantIdentifier: key.merchantIdentifier) { token in
                switch token.keyMaterial {
                case .ephemeralPublicKey(let sender):
                    SymmetricKey(
                        data: try await keys.symmetricKey(
                            of: publicKeyHash,
                            ephemeralPublicKey: Data(sender.derRepresentation).base64EncodedString()))
                case .wrappedKey(let wrapped):
                    SymmetricKey(
                        data: try await keys.symmetricKey(
                            of: publicKeyHash, wrappedKey: Data(wrapped.bytes).base64EncodedString()))
                }
            }
        },
        claim: claim)
}

func charge(_ json: Data, with opener: PaymentTokenOpener) async throws {
    let opened = try await opener.open(
        try ApplePayToken(parsing: json), receivedAt: Date(),
        expected: ExpectedTransaction(
            merchantIdentifier: "merchant.com.example.shop", currencyCode: "840",
            transactionAmount: TransactionAmount(text: "1999", isString: false)))
    let payment = try opened.paymentData()
    print(
        "charging \(payment.transactionAmount.text) to \(payment.applicationPrimaryAccountNumber.maskedAccountNumber)")
}
// example ends
