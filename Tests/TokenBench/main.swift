import Crypto
import Foundation
import PaymentToken
import Vocabulary

// Measures how fast one core verifies and decrypts one EC_v1 token. For comparison it also measures the two operations
// that every implementation needs with a cached chain: one ECDSA verification and one ECDH key agreement.
// Usage: TokenBench TOKEN PRIVATE-KEY.pem MERCHANT-IDENTIFIER TIME-OF-RECEIPT [ROOT.pem]
//        TokenBench provisioning LEAF.pem SUB-CA.pem ROOT.pem, see ProvisioningBench

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "provisioning" {
    try ProvisioningBench.run(Stopwatch(), certificates: Array(arguments[2...]))
    exit(0)
}
guard (5...6).contains(arguments.count), let receivedAt = Timestamp(rfc3339: arguments[4]) else {
    FileHandle.standardError.write(Data("usage: TokenBench TOKEN PRIVATE-KEY.pem MERCHANT TIME [ROOT.pem]\n".utf8))
    exit(2)
}
let json = try Data(contentsOf: URL(filePath: arguments[1]))
// Skips the `EC PARAMETERS` block that OpenSSL may write first: the key block contains the same parameters.
let pem = try String(contentsOfFile: arguments[2], encoding: .utf8)
let key = try P256.KeyAgreement.PrivateKey(
    pemRepresentation: "-----BEGIN " + (pem.components(separatedBy: "-----BEGIN ").last ?? ""))
let merchant = arguments[3]
let roots =
    try arguments.count == 6
    ? TrustRoot.reading(pem: String(contentsOfFile: arguments[5], encoding: .utf8)) : [.appleRootCAG3]
// The sandbox environment also accepts production tokens.
let warm = SignatureVerifier(environment: TokenEnvironment.sandbox, trustRoots: roots)
let cold = SignatureVerifier(environment: .sandbox, trustRoots: roots, chainCacheCapacity: 0)

let token = try ApplePayToken(parsing: json)
guard case .ephemeralPublicKey(let sender) = token.keyMaterial else {
    throw PaymentTokenError(.malformed, "found a token of version \(token.version.rawValue), expected EC_v1")
}

/// Parses, verifies and decrypts the token, as a decryptor does.
func open(_ verifier: SignatureVerifier) throws -> PaymentData {
    let token = try ApplePayToken(parsing: json)
    try verifier.verify(token, receivedAt: receivedAt).requireVerified()
    guard case .ephemeralPublicKey(let sender) = token.keyMaterial else { throw CancellationError() }
    let symmetricKey = try SymmetricKeyDerivation.symmetricKey(
        sharedSecret: key.sharedSecretFromKeyAgreement(with: sender.agreementKey), merchantIdentifier: merchant)
    return try token.decrypt(with: symmetricKey).paymentData()
}

let bare = try BareVerification.p256()
let bareRoot = try BareVerification.p384()
let symmetricKey = try SymmetricKeyDerivation.symmetricKey(
    sharedSecret: key.sharedSecretFromKeyAgreement(with: sender.agreementKey), merchantIdentifier: merchant)
try warm.verify(token, receivedAt: receivedAt).requireVerified()

let stopwatch = Stopwatch()
let rates = try stopwatch.measure([
    ("bare P-256 verify (libcrypto)", { try bare.verify() }),
    (
        "bare P-256 ECDH (swift-crypto)",
        { _ = try key.sharedSecretFromKeyAgreement(with: sender.agreementKey) }
    ),
    ("bare P-384 verify (libcrypto)", { try bareRoot.verify() }),
    ("  parse the token", { _ = try ApplePayToken(parsing: json) }),
    ("  verify the signature, chain cached", { _ = warm.verify(token, receivedAt: receivedAt) }),
    (
        "  decrypt and parse the payment data",
        { _ = try token.decrypt(with: symmetricKey).paymentData() }
    ),
    ("verify and decrypt, chain cached", { _ = try open(warm) }),
    ("verify and decrypt, chain not cached", { _ = try open(cold) }),
])
let limit = 1 / (1 / rates[0] + 1 / rates[1])
// The signatures of the root over the intermediate, of the intermediate over the signing certificate, and of the signing
// certificate over the token.
let coldLimit = 1 / (1 / rates[2] + 2 / rates[0] + 1 / rates[1])
stopwatch.print("limit: one P-256 verify and one ECDH", limit)
print("chain cached, share of the limit: \(String(format: "%.2f", rates[6] / limit)) (target 5,000/s)")
print(
    "chain not cached, share of the limit with all signatures: \(String(format: "%.2f", rates[7] / coldLimit)) (target 700/s)"
)
