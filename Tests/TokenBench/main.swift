import Crypto
import Foundation
import PaymentToken
import Vocabulary

// Measures the library on one EC_v1 token, on one core, beside the two operations that no verifier can do without.
// Usage: TokenBench TOKEN PRIVATE-KEY.pem MERCHANT-IDENTIFIER TIME-OF-RECEIPT [ROOT.pem]

let arguments = CommandLine.arguments
guard (5...6).contains(arguments.count), let receivedAt = Timestamp(rfc3339: arguments[4]) else {
    FileHandle.standardError.write(Data("usage: TokenBench TOKEN PRIVATE-KEY.pem MERCHANT TIME [ROOT.pem]\n".utf8))
    exit(2)
}
let json = try Data(contentsOf: URL(filePath: arguments[1]))
// OpenSSL's `EC PARAMETERS` block, which may come first, repeats what the key says.
let pem = try String(contentsOfFile: arguments[2], encoding: .utf8)
let key = try P256.KeyAgreement.PrivateKey(
    pemRepresentation: "-----BEGIN " + (pem.components(separatedBy: "-----BEGIN ").last ?? ""))
let merchant = arguments[3]
let roots =
    try arguments.count == 6
    ? TrustRoot.reading(pem: String(contentsOfFile: arguments[5], encoding: .utf8)) : [.appleRootCAG3]
// The sandbox's environment accepts what production does and more.
let warm = SignatureVerifier(environment: TokenEnvironment.sandbox, trustRoots: roots)
let cold = SignatureVerifier(environment: .sandbox, trustRoots: roots, rememberedChains: 0)

let token = try ApplePayToken(parsing: json)
guard case .ephemeralPublicKey(let sender) = token.keyMaterial else {
    throw PaymentTokenError(.malformed, "found a token of \(token.version.rawValue), expected EC_v1")
}

/// From the bytes that came in to typed payment data, as a decryptor does it.
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
let verify = try stopwatch.measure("bare P-256 verify (libcrypto)") { try bare.verify() }
let agree = try stopwatch.measure("bare P-256 ECDH (swift-crypto)") {
    _ = try key.sharedSecretFromKeyAgreement(with: sender.agreementKey)
}
let limit = 1 / (1 / verify + 1 / agree)
let verifyRoot = try stopwatch.measure("bare P-384 verify (libcrypto), as of the root") { try bareRoot.verify() }
// The intermediate by the root, the signing certificate by the intermediate, the token by the signing certificate.
let coldLimit = 1 / (1 / verifyRoot + 2 / verify + 1 / agree)
stopwatch.print("  limit of verify and ECDH together", limit)
try stopwatch.measure("  reading the token") { _ = try ApplePayToken(parsing: json) }
try stopwatch.measure("  signature, chain remembered") { _ = warm.verify(token, receivedAt: receivedAt) }
try stopwatch.measure("  opening and reading payment data") { _ = try token.decrypt(with: symmetricKey).paymentData() }
let warmRate = try stopwatch.measure("verify and decrypt, chain remembered") { _ = try open(warm) }
let coldRate = try stopwatch.measure("verify and decrypt, chain unknown") { _ = try open(cold) }
print("  in-process, chain remembered / limit: \(String(format: "%.2f", warmRate / limit)) (aim 5,000/s)")
print(
    "  in-process, chain unknown / limit of all its signatures: \(String(format: "%.2f", coldRate / coldLimit)) (aim 700/s)"
)
