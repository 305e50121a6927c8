import PassProvisioning

/// A fault that only the broker can find: an invalid body, or card data that differs from what Wallet handed out.
package enum BrokerFinding: ProvisioningFinding {
    /// The body is not a JSON object with the required values. The description says why.
    case malformedBody(String)
    /// The nonce of the card data is not the nonce that Wallet handed out.
    case nonceMismatch
    /// The signature of the nonce is not the one that Wallet handed out.
    case nonceSignatureMismatch

    package var code: String {
        switch self {
        case .malformedBody: "malformedBody"
        case .nonceMismatch: "nonceMismatch"
        case .nonceSignatureMismatch: "nonceSignatureMismatch"
        }
    }

    package var message: String {
        switch self {
        case .malformedBody(let reason):
            "the request to the broker is not a JSON object with the three values: \(reason)"
        case .nonceMismatch: "the nonce of the card data is not the one that Wallet handed to the app"
        case .nonceSignatureMismatch:
            "the nonceSignature of the card data is not the one that Wallet handed to the app"
        }
    }

    package var action: String {
        switch self {
        case .malformedBody: "send the JSON response of the issuer socket unchanged"
        case .nonceMismatch:
            "encrypt the nonce of this attempt, as hexadecimal digits, and never one of an earlier attempt"
        case .nonceSignatureMismatch: "encrypt the signature of this attempt, as hexadecimal digits of its bytes"
        }
    }
}
